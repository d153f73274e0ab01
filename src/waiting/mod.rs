//! Requests that wait until they are admitted, in place of being refused.
//!
//! Whoever is refused gets into line for the key that is spent. Only the head of a line asks the store, when it has waited
//! for as long as it was told to; everybody else waits for the head to leave, and whoever comes new gets in behind them
//! without having asked. So requests pass in the order of their coming, and however many wait, one at a time asks.

mod patience;
mod room;
mod waited;

pub(crate) use self::{
    patience::{Patience, Waiting},
    room::{WAITERS, WaitingRoom},
    waited::Waited,
};
