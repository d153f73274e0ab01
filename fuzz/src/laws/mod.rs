//! The laws that every algorithm keeps, on any limits and any traffic: on the memory store, and of the pure functions
//! underneath it.
//!
//! An input is one or two limits of eight bytes each, and steps of four bytes.

mod admitted;
mod moment;
mod trace;
mod traffic;

use self::{trace::Trace, traffic::Input};

/// Limits and traffic.
pub fn laws(input: &[u8]) {
    let Some(Input { rules, steps }) = Input::read(input) else {
        return;
    };
    let mut trace = Trace::new(&rules);
    for step in steps {
        trace.step(step);
    }
    trace.finish();
}
