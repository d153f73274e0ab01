//! The batcher: requests that wait to be sent, and the batches that they are sent in.
//!
//! While no call is in flight, a request is sent at once; while calls are in flight, requests are queued (`queue`) and sent together
//! when a call returns, up to a maximal weight. Requests for exhausted keys are denied from the denial cache.

mod batcher;
mod pending_response;
mod queue;

pub(super) use self::{batcher::Batcher, pending_response::PendingResponse};
