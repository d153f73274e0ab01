//! Which keys the store has warned of.

use tracing::Level;

use support::log;
pub(crate) use support::log::listen;

/// The keys that begin like this and have been warned of since the last look.
pub(crate) fn of(prefix: &str) -> Vec<String> {
    let ours = log::take(|line| line.level == Level::WARN && line.field("key").starts_with(prefix));
    ours.iter().map(|line| line.field("key").to_owned()).collect()
}
