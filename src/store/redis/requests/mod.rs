//! Delivers requests to Redis: in batches, within their deadlines, at most once.
//!
//! The future of a decision (`future`) answers from the denial cache (`denied`) or submits a request. While calls are in
//! flight, the request waits in a queue (`queue`; a cluster has one per slot, `queues`). The batcher (`send`) takes queued
//! requests as a `batch`, and the future polls their pending response (`awaited`). The router (`journey`) sends a batch to the
//! node that serves its keys, in one call (`exchange`), and errors are classified (`remedy`). While a circuit breaker is open,
//! a task probes its node (`probe`). A request whose keys are in several slots is split into a request per slot (`spread`).

mod awaited;
mod batch;
mod denied;
mod exchange;
mod future;
pub(super) mod journey;
mod probe;
mod queue;
mod queues;
mod remedy;
mod send;
mod shared;
mod spread;

pub use self::future::RedisDecision;
pub(super) use self::{batch::Batch, denied::Denied, queue::Request, queues::Queues, shared::Shared};
