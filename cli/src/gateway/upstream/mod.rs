//! The upstream service: forwards requests to it over pooled connections.

mod connector;
pub(crate) mod echo;
mod error;
mod proxy;
mod request_body;
mod response_body;
mod websocket;

pub(crate) use self::proxy::Proxy;
