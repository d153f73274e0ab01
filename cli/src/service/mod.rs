//! `tollgate service`: tells proxies whether a request may pass. The proxies forward it themselves.
//!
//! [`http`] is for nginx, Traefik and Caddy, [`grpc`] for Envoy. The rest is in [`crate::server`]. docs/service.md is the manual.

mod args;
mod banner;
mod grpc;
mod http;
mod metrics;
mod run;

pub(crate) use self::{args::ServiceArgs, run::run};
