//! The tower service: decides about each request before it calls the inner service.

mod enforcer;
mod future;
mod service;
mod settings;

pub(crate) use self::settings::{OnFailure, Settings};
pub use self::{future::ResponseFuture, service::RateLimit};
