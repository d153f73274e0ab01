//! What `tollgate gateway` and `tollgate service` share: everything but what they do with an admitted request.
//!
//! [`Server`] is started with [`ServerArgs`] and ends after a signal. [`listener`] accepts client connections, [`store`] applies
//! the limits ([`responder`] answers for them), [`admin`] serves operators.

pub(crate) mod admin;
mod args;
pub(crate) mod banner;
pub(crate) mod connection;
mod health;
pub(crate) mod listener;
pub(crate) mod log_throttle;
pub(crate) mod metrics;
pub(crate) mod normalize;
pub(crate) mod responder;
pub(crate) mod response;
mod run;
pub(crate) mod store;

pub(crate) use self::{
    args::{ADMIN_ENDPOINTS, ServerArgs},
    health::health,
    run::{Server, shutdown_requested, start},
};
