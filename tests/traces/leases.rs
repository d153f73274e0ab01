//! The span of a decision by leases.

use std::time::Duration;

use tollgate::{CallKey, FixedWindow, Key, Limiter, Quota, Tier};

use support::redis::RedisServer;

use crate::spans::{listen, of};

#[tokio::test]
async fn the_span_says_whether_leases_decided() {
    listen();
    let server = RedisServer::start();
    let window = FixedWindow::new(Quota::per_day(100_000)).anchored();
    let tier = Tier::new("traced-lease", window, CallKey).lease(Duration::from_secs(30));
    let limiter = Limiter::new(tier, server.store().build().unwrap());
    for _ in 0..20 {
        assert!(limiter.check(&Key::GLOBAL).await.unwrap().admits());
    }
    let spans = of("traced-lease");
    let by_lease: Vec<_> = spans
        .iter()
        .map(|span| span.recorded().contains(&("by_lease", "true")))
        .collect();
    assert_eq!(
        (by_lease.len(), by_lease[0], by_lease[19]),
        (20, false, true),
        "{by_lease:?}"
    );
}
