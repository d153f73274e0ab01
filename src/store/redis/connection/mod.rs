//! Connections: their settings, how they are made, and the pool that keeps them.
//!
//! A [`Connector`] connects to a fixed address, or to the primary that sentinels report. A [`ConnectionPool`] keeps the connections of
//! one node, and a [`SingleFlight`] bounds connection attempts and discoveries to one at a time. `discovery` asks sentinels and nodes for
//! addresses.

mod config;
mod connector;
mod discovery;
mod pool;
mod reconnects;
mod single_flight;

pub(super) use self::{
    config::ConnectionConfig,
    connector::{Connector, Sentinels},
    discovery::query_first,
    pool::{ConnectionHandle, ConnectionPool},
    reconnects::Reconnects,
    single_flight::{Flight, SingleFlight},
};
