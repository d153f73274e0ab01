//! The batcher: requests that wait to be sent, and the batches that they are sent in.
//!
//! While no call is in flight, a request is sent at once; while calls are in flight, requests are queued (`queue`) and sent together
//! when another call may be started (`flow_control`), up to a maximal weight. Requests that Redis cannot decide in time are shed, and
//! reported (`overload`). Requests for exhausted keys are denied from the denial cache.

mod batcher;
mod flow_control;
mod overload;
mod pending_response;
mod queue;
#[cfg(test)]
mod simulation;

pub(super) use self::{batcher::Batcher, overload::Overload, pending_response::PendingResponse};
