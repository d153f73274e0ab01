//! The batcher: requests that wait to be sent, and the batches that they are sent in.
//!
//! While no call is in flight, a request is sent at once; while calls are in flight, requests are queued (`queue`) and sent together
//! when a call returns, up to a maximal weight. A [`Batch`] ends the wait of each request at its deadline. The denial cache answers
//! requests for exhausted keys without a call.

mod batch;
mod batcher;
mod denial_cache;
mod queue;

pub(super) use self::{
    batch::{Batch, PendingResponse, Request, Response},
    batcher::Batcher,
    denial_cache::DenialCache,
};
