//! The nodes that calls are sent to: a standalone Redis, or the nodes of a cluster.
//!
//! Each node is a [`Server`]: a connection pool and a circuit breaker. `directory` asks sentinels and cluster nodes for
//! addresses.

mod cluster;
mod directory;
mod errand;
mod server;
mod servers;
mod terms;

pub(super) use self::{
    cluster::{Cluster, Slot},
    server::{Breaker, Line, Probing, Sentinels, Server, Way},
    servers::Servers,
    terms::Terms,
};
