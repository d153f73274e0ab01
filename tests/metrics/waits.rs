//! Wait times by the store's clock, to the microsecond.

use std::time::Duration;

use tollgate::{Global, Key, LeakyBucket, Limiter, ManualClock, Quota, RateLimitLayer, Tier};
use tower::{Layer, Service, service_fn};

use support::{memory::store_at_zero, wait::yield_until};

use crate::recorder::TestRecorder;

const SECOND: Duration = Duration::from_secs(1);

/// The recorded wait times of a limit.
fn waited(recorded: &TestRecorder, limit: &str) -> Vec<f64> {
    let mut waits = recorded.values("tollgate_wait_seconds");
    let waited = waits.remove(&format!("limit={limit}")).unwrap_or_default();
    assert!(waits.is_empty(), "{waits:?}");
    waited
}

/// Yields until this many tasks wait for the clock.
async fn wait(clock: &ManualClock, waiting: usize) {
    yield_until(async || clock.pending_sleeps() == waiting).await;
}

#[tokio::test]
async fn a_delay_by_a_layer_is_recorded_when_it_ends() {
    let recorded = TestRecorder::start();
    let (store, clock) = store_at_zero();
    let queue = LeakyBucket::new(Quota::per_second(2)).capacity(9);
    let layer = RateLimitLayer::fixed_window("all", Quota::per_minute(9), Global, store)
        .tier(Tier::new("queue", queue, Global))
        .respond_with(tollgate::AsError);
    let mut service = layer.layer(service_fn(async |(): ()| Ok::<_, tower::BoxError>(())));
    let [requests @ .., last] = [(); 4].map(|()| tokio::spawn(service.call(())));
    // The first request is not delayed.
    wait(&clock, 3).await;
    assert_eq!(waited(&recorded, "queue"), [0.0; 0]);
    clock.advance(SECOND);
    for request in requests {
        request.await.unwrap().unwrap();
    }
    assert_eq!(waited(&recorded, "queue"), [1.0, 1.0]);
    // The last request is still delayed, until its client disconnects.
    clock.advance(SECOND / 4);
    last.abort();
    assert!(last.await.unwrap_err().is_cancelled());
    assert_eq!(waited(&recorded, "queue"), [1.0, 1.0, 1.25]);
}

#[tokio::test]
async fn a_wait_is_recorded_whatever_its_outcome() {
    let recorded = TestRecorder::start();
    let (store, clock) = store_at_zero();
    let limiter = Limiter::fixed_window("jobs", Quota::new(1, 4 * SECOND), store);
    let Ok(_) = limiter.wait(&Key::GLOBAL, SECOND).await;
    let Ok(denied) = limiter.wait(&Key::GLOBAL, 3 * SECOND).await;
    assert!(!denied.admits());
    assert_eq!(waited(&recorded, "jobs"), [0.0; 0]);
    let start = |max| {
        let limiter = limiter.clone();
        tokio::spawn(async move { limiter.wait(&Key::GLOBAL, max).await.unwrap().admits() })
    };
    let (first, second, third) = (start(4 * SECOND), start(9 * SECOND), start(5 * SECOND));
    wait(&clock, 3).await;
    clock.advance(4 * SECOND);
    assert!(first.await.unwrap());
    assert_eq!(waited(&recorded, "jobs"), [4.0]);
    wait(&clock, 2).await;
    clock.advance(SECOND);
    assert!(!third.await.unwrap());
    assert_eq!(waited(&recorded, "jobs"), [4.0, 5.0]);
    clock.advance(3 * SECOND);
    assert!(second.await.unwrap());
    assert_eq!(waited(&recorded, "jobs"), [4.0, 5.0, 8.0]);
}

#[tokio::test]
async fn a_delay_by_a_limiter_is_recorded() {
    let recorded = TestRecorder::start();
    let (store, clock) = store_at_zero();
    let limiter = Limiter::leaky_bucket("mails", Quota::per_second(2), store);
    let Ok(_) = limiter.wait(&Key::GLOBAL, SECOND).await;
    let held = {
        let limiter = limiter.clone();
        tokio::spawn(async move { limiter.wait(&Key::GLOBAL, SECOND).await.unwrap().admits() })
    };
    wait(&clock, 1).await;
    clock.advance(SECOND / 2);
    assert!(held.await.unwrap());
    assert_eq!(waited(&recorded, "mails"), [0.5]);
}
