//! The laws of every algorithm, on any limits and any traffic: of the memory store, and of the pure functions beneath it.
//!
//! An input is one or two limits of eight bytes each, and steps of four bytes.

mod admissions;
mod bound;
mod input;
mod snapshot;
mod trace;

pub use self::bound::assert_within_bound;
use self::{input::Input, trace::Trace};

/// Checks limits and steps of traffic.
pub fn laws(input: &[u8]) {
    let Some(Input { algorithms, steps }) = Input::parse(input) else {
        return;
    };
    let mut trace = Trace::new(&algorithms);
    for step in steps {
        trace.step(step);
    }
    trace.finish();
}
