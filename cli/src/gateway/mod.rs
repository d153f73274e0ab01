//! `tollgate gateway`: a reverse proxy with rate limits, for services that cannot use the layer.
//!
//! [`service`] normalizes requests ([`normalize`]) and applies the limits, [`upstream`] forwards them. The rest is in
//! [`crate::server`]. docs/gateway.md is the manual.

mod args;
mod banner;
mod headers;
mod metrics;
mod normalize;
mod response;
mod run;
mod sanitize;
mod service;
mod upstream;

pub(crate) use self::{args::GatewayArgs, run::run};
