//! The playground as a program of its own, looked at and used in a real browser.
#![cfg(all(feature = "redis", feature = "axum"))]

mod boundary;
mod burst;
mod load;
mod model;
mod program;
mod reconnect;
mod share;
mod stage;
#[path = "../support/mod.rs"]
mod support;
mod time;
mod widths;
