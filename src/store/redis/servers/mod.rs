//! Which Redis a call goes to: the one there is, or the one of a cluster that has the keys.
//!
//! Each is a [`Server`]: some connections, and whether it is worth asking. Sentinels and clusters are asked where it is
//! (`directory`).

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
