//! How requests get to Redis and back: together, in time, and never twice.
//!
//! A request becomes a decision (`future`). It waits while calls are in flight (`queue`; a cluster has one for each slot,
//! `queues`), and leaves with those who wait beside it (`send`) as a `batch`; its answer is `awaited`. A batch finds whoever
//! has its keys (`journey`), and is one call there (`exchange`), which also tells something about that Redis (`remedy`). One
//! that is given up is looked after (`probe`). A request whose keys are in several slots is a request in each (`spread`). Who
//! is known to be refused need not go (`denied`).

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
