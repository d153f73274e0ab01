//! What the tests share does what it says: servers and ways to break them, a browser, and what counts leaks.

mod browser;
mod cluster;
mod leaks;
mod port;
mod process;
mod proxy;
mod sentinel;
mod server;
mod server_clock;
