//! The service behind the gateway.

pub(crate) mod built_in;
mod download;
mod failure;
mod link;
mod proxy;
mod tunnel;
mod upload;

pub(crate) use self::proxy::Proxy;
