//! What the tests of hazards are made of does what it says.
#![cfg(feature = "redis")]

mod browser;
mod cluster;
mod leaks;
mod process;
mod proxy;
mod sentinel;
mod server;
mod server_clock;
#[path = "../support/mod.rs"]
mod support;
