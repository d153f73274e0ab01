//! Clients that nobody here wrote, and a real server: what they make of its answers, and when they come back.
//!
//! `clients/` pins them. Of ky it is version 1, which the Node.js of Debian runs.
#![cfg(all(feature = "redis", feature = "axum"))]

mod client;
mod coming_back;
mod reading;
mod server;
#[path = "../support/mod.rs"]
mod support;
