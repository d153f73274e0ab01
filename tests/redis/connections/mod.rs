//! The connection pool: connections are shared, and replaced when they are lost or unresponsive.

mod fixture;
mod lost;
mod pool;
mod timeouts;
