//! Tests of `pending_response`.

use std::time::Duration;

use super::*;
use crate::store::redis::batcher::overload::Overload;

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
