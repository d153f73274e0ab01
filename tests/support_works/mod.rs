//! Tests of the shared test helpers: servers, fault injection, the browser, and leak counters.

mod browser;
mod cluster;
mod proxy;
mod resources;
mod sentinel;
mod server;
mod server_clock;
