//! Rules that change while the service runs: when the new ones are in force, and what becomes of what was used.

mod fixture;
mod half_written;
mod program;
#[path = "../support/mod.rs"]
mod support;
mod thread;
mod watched;
mod wrong;
