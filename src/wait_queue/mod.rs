//! Requests that wait until they are admitted instead of being denied.
//!
//! A denied request joins the wait queue of the key that is exhausted. The head of a queue asks the store after the
//! `retry_after` of its last denial; a request that arrives later joins behind it. So requests are admitted in the order of
//! arrival, and one request per key asks the store at a time, however long the queue is.
//!
//! A costly head must not block cheap requests while there is enough quota for them. So the request behind the head may overtake
//! it, under two conditions: the request can be admitted now, and the head can still be admitted before its own deadline
//! afterwards. The request tries when it gets behind the head, and after its own `retry_after`, but not when it costs as much
//! as the head where the head is denied, not when it is the head's turn to ask, and not when another of its keys has a queue.
//! It acquires its charges, peeks at those of the head, and refunds its own if the head would be too late. Only one of both asks
//! the store at a time, so the head never sees a charge that may still be refunded. The requests further behind keep their order:
//! they cannot overtake the one behind the head.
//!
//! It is not known when a slot of a concurrency limit becomes free. The head of a queue for one asks when a request of the same layer has
//! released its slots, and every [`POLL_INTERVAL`](wait::POLL_INTERVAL) for those that were released elsewhere. No request overtakes it.
//!
//! A request that cannot wait, because the queue is full or because it cannot be admitted before its deadline, returns its own
//! denial, for which it peeks; if only the order of arrival denies it, it returns the head's.

mod held_slots;
mod overtake;
mod queues;
mod wait;

pub(crate) use self::{
    held_slots::permit,
    queues::{DEFAULT_MAX_WAITERS, WaitQueues},
    wait::{QueuedDecision, WaitConfig, WaitTimer},
};
