//! Tests of `pending_response`.

use std::time::Duration;

use super::*;
use crate::{
    algorithm::{Algorithm, Concurrency, State},
    charge::Charge,
    decision::{Decision, TierDecision},
    key::Key,
    limit::Limit,
    store::redis::batcher::overload::Overload,
};

const TIMEOUT: Duration = Duration::from_millis(100);

/// The error of a request whose deadline passes while it is queued.
async fn expired(is_correction: bool) -> StoreError {
    let address: Arc<str> = "127.0.0.1:6379".into();
    let queue = Arc::new(Queue::new(TIMEOUT, None, &Arc::new(Overload::new(&address))));
    let (sent, (_sender, response)) = (Arc::default(), oneshot::channel());
    let queued = QueuedRequest::new(&queue, Instant::now() + TIMEOUT, Arc::clone(&sent), is_correction);
    let pending = PendingResponse::new(&address, response, Sending::Queued(queued), Some(sent));
    pending.await.unwrap_err()
}

#[tokio::test(start_paused = true)]
async fn a_correction_that_nobody_waits_for_may_still_be_sent() {
    assert!(!expired(false).await.may_have_charged());
    assert!(expired(true).await.may_have_charged());
}

/// Otherwise the slot would be held, and renewed, until the process ends.
#[test]
fn a_part_that_is_dropped_after_its_response_has_arrived_releases_its_slots() {
    let slot = Charge::new(Limit::new("slots", Concurrency::new(1)), Key::GLOBAL);
    let (verdict, mark) = slot.limit.algorithm().acquire(&mut State::Fresh, 0, 1);
    let decision = Decision::from_tiers(0, [TierDecision::new(slot, verdict).with_mark(mark.unwrap())]);
    let (sender, response) = oneshot::channel();
    let pending = PendingResponse::new(&"127.0.0.1:6379".into(), response, Sending::Done, None);
    let mut released = Vec::new();
    let part = PartResponse::new(pending, |receipt: Receipt| released.extend(receipt.into_charged()));
    assert!(sender.send(Ok(decision)).is_ok());
    drop(part);
    assert_eq!(released.len(), 1);
}
