//! The playground as a program of its own, looked at and used in a real browser.
#![cfg(all(feature = "redis", feature = "axum"))]

mod arguments;
mod boundary;
mod burst;
mod colours;
mod keyboard;
mod load;
mod model;
mod outage;
mod pages;
mod program;
mod reader;
mod reconnect;
mod settings;
mod share;
mod stage;
#[path = "../support/mod.rs"]
mod support;
mod table;
mod time;
mod widths;
