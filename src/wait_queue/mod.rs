//! Requests that wait until they are admitted instead of being denied.
//!
//! A denied request joins the wait queue of the key that is exhausted. Only the head of a queue asks the store, after the
//! `retry_after` of its last denial; a request that arrives later joins behind it without asking. So requests are admitted in
//! the order of arrival, and one request per key asks the store at a time, however long the queue is.

mod queues;
mod wait;

pub(crate) use self::{
    queues::{DEFAULT_MAX_WAITERS, WaitQueues},
    wait::{QueuedDecision, WaitConfig, WaitTimer},
};
