//! Clients that nobody here wrote, and a real server: what they make of its answers, and when they come back.
//!
//! `clients/` pins them. Of ky it is version 1, which the Node.js of Debian runs.

mod client;
mod coming_back;
mod reading;
mod server;
