//! `tollgate service` as a process: the HTTP API, with clients that send what proxies send.

mod arguments;
mod banner;
mod bodies;
mod check;
mod description;
mod fixture;
pub(crate) mod grpc;
mod health;
mod metrics;
mod outage;
mod outcomes;
mod paths;
mod shared_redis;
mod shutdown;
mod trust;
