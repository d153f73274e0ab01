//! Where operators look: how the gateway is, what is in force, and how a key stands.

mod answer;
mod health;
mod keys;
mod limits;
mod local;
mod metrics;
mod serve;
mod state;

pub(crate) use self::{serve::serve, state::Admin};
