//! Third-party clients against a real server: how they parse its headers, and when they retry.
//!
//! `clients/` pins their versions. ky is version 1, which runs on Debian's Node.js.

pub(crate) mod client;
mod connect;
mod parsers;
mod retries;
mod server;
