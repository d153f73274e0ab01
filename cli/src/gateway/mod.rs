//! `tollgate gateway`: limits in front of any service, for those who cannot put the layer into theirs, or will not.
//!
//! `tollgate gateway` alone has rules and a small service to try it on; docs/gateway.md says how to put it in front of a service of
//! your own.

mod admin;
mod answer;
mod args;
mod banner;
mod bounds;
mod clients;
mod counting;
mod forwarding;
mod guest;
mod measures;
mod plain;
mod run;
mod sanitize;
mod seldom;
mod stack;
mod upstream;
mod values;

pub(crate) use self::{args::GatewayArgs, run::run};
