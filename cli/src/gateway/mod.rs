//! `tollgate gateway`: a reverse proxy with rate limits, for services that cannot use the layer.
//!
//! [`listener`] accepts client connections, [`service`] normalizes requests ([`normalize`]) and applies the limits ([`store`]),
//! [`upstream`] forwards them, [`admin`] serves operators. docs/gateway.md is the manual.

mod admin;
mod args;
mod banner;
mod connection;
mod headers;
mod listener;
mod log_throttle;
mod metrics;
mod normalize;
mod responder;
mod response;
mod run;
mod sanitize;
mod service;
mod store;
mod upstream;

pub(crate) use self::{args::GatewayArgs, run::run};
