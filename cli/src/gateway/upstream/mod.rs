//! The upstream service: forwards requests to it over pooled connections.

mod connector;
pub(crate) mod echo;
mod error;
mod proxy;
mod request_body;
mod response_body;
mod websocket;

use std::time::Duration;

pub(crate) use self::proxy::Proxy;

/// How long either side may stall.
#[derive(Clone, Copy)]
pub(crate) struct Timeouts {
    pub(crate) client: Duration,
    pub(crate) upstream: Duration,
}
