//! The tower service: decides about each request before it calls the inner service.

mod enforcer;
mod future;
mod service;

pub(crate) use self::enforcer::{Enforcer, OnFailure};
pub use self::{future::ResponseFuture, service::RateLimit};
