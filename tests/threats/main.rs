//! What attackers try, where no other test shows what comes of it. docs/security.md names these tests, and those elsewhere.
#![cfg(all(feature = "redis", feature = "axum"))]

mod acl;
mod floods;
mod injection;
mod lockout;
mod oracles;
mod page;
mod rotation;
#[path = "../support/mod.rs"]
mod support;
