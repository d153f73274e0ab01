//! How long requests are held back: by the clock of the store, to the microsecond.

use std::time::Duration;

use tollgate::{FixedWindow, Global, Key, LeakyBucket, Limiter, ManualClock, Quota, RateLimitLayer};
use tower::{Layer, Service, service_fn};

use support::{memory::still, patience::yielding};

use crate::recorded::Recorded;

const SECOND: Duration = Duration::from_secs(1);

/// What has been measured of a limit so far.
fn waited(recorded: &Recorded, limit: &str) -> Vec<f64> {
    let mut waits = recorded.values("tollgate_wait_seconds");
    let waited = waits.remove(&format!("limit={limit}")).unwrap_or_default();
    assert!(waits.is_empty(), "{waits:?}");
    waited
}

/// Lets tasks run until so many of them wait for the clock.
async fn wait(clock: &ManualClock, waiting: usize) {
    yielding(async || clock.waiting() == waiting).await;
}

#[tokio::test]
async fn what_a_layer_holds_back_is_measured_when_it_may_go() {
    let recorded = Recorded::start();
    let (store, clock) = still();
    let queue = LeakyBucket::new(Quota::per_second(2)).capacity(9);
    let layer = RateLimitLayer::new("all", FixedWindow::new(Quota::per_minute(9)), Global, store)
        .tier("queue", queue, Global)
        .respond_with(tollgate::AsError);
    let mut service = layer.layer(service_fn(async |(): ()| Ok::<_, tower::BoxError>(())));
    let [requests @ .., last] = [(); 4].map(|()| tokio::spawn(service.call(())));
    // The first need not wait.
    wait(&clock, 3).await;
    assert_eq!(waited(&recorded, "queue"), [0.0; 0]);
    clock.advance(SECOND);
    for request in requests {
        request.await.unwrap().unwrap();
    }
    assert_eq!(waited(&recorded, "queue"), [1.0, 1.0]);
    // The last still does, until its client leaves.
    clock.advance(SECOND / 4);
    last.abort();
    assert!(last.await.unwrap_err().is_cancelled());
    assert_eq!(waited(&recorded, "queue"), [1.0, 1.0, 1.25]);
}

#[tokio::test]
async fn who_stands_in_line_is_measured_whatever_comes_of_it() {
    let recorded = Recorded::start();
    let (store, clock) = still();
    let limiter = Limiter::new("line", FixedWindow::new(Quota::new(1, 4 * SECOND)), store);
    let Ok(_) = limiter.wait(&Key::GLOBAL, SECOND).await;
    let Ok(refused) = limiter.wait(&Key::GLOBAL, 3 * SECOND).await;
    assert!(!refused.admits());
    assert_eq!(waited(&recorded, "line"), [0.0; 0]);
    let start = |max| {
        let limiter = limiter.clone();
        tokio::spawn(async move { limiter.wait(&Key::GLOBAL, max).await.unwrap().admits() })
    };
    let (first, second, third) = (start(4 * SECOND), start(9 * SECOND), start(5 * SECOND));
    wait(&clock, 3).await;
    clock.advance(4 * SECOND);
    assert!(first.await.unwrap());
    assert_eq!(waited(&recorded, "line"), [4.0]);
    wait(&clock, 2).await;
    clock.advance(SECOND);
    assert!(!third.await.unwrap());
    assert_eq!(waited(&recorded, "line"), [4.0, 5.0]);
    clock.advance(3 * SECOND);
    assert!(second.await.unwrap());
    assert_eq!(waited(&recorded, "line"), [4.0, 5.0, 8.0]);
}

#[tokio::test]
async fn what_a_limiter_holds_back_is_measured() {
    let recorded = Recorded::start();
    let (store, clock) = still();
    let limiter = Limiter::new("mails", LeakyBucket::new(Quota::per_second(2)), store);
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
