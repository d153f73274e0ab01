//! All that is promised.

use super::{answered, back, bounded, left, promise::Promise, run::Run};

/// Looks into each of them.
pub(crate) fn promises(run: &Run) -> [Promise; 4] {
    [
        answered::promise(run),
        back::promise(run),
        bounded::promise(run),
        left::promise(run),
    ]
}
