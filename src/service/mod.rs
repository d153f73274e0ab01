//! The middleware itself: a service that asks before it serves.

mod future;
mod gate;
mod service;

pub(crate) use self::gate::{Gate, OnFailure};
pub use self::{future::ResponseFuture, service::RateLimit};
