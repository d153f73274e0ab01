//! Third-party clients against a real server: how they parse its headers, and when they retry.
//!
//! `clients/` pins their versions. ky is version 1, which runs on Debian's Node.js, and openai version 6, since version 7 requires
//! Node.js 22. The Python packages require Python 3.11.

pub(crate) mod client;
mod connect;
mod openai;
mod parsers;
mod retries;
mod server;
