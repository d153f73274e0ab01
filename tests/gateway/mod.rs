//! The gateway as a process, in front of real services, with valid and invalid HTTP clients.

mod admin;
mod arguments;
mod background_load;
mod bodies;
mod client;
mod concurrency;
mod connection_limit;
mod fields;
pub(crate) mod fixture;
mod forwarded;
mod headers;
mod log;
mod no_arguments;
mod outage;
mod paths;
mod reload;
pub(crate) mod service;
mod shared_redis;
mod shutdown;
mod socket;
mod upstream;
mod websockets;
