//! Metrics of leases: what was leased, spent and returned.

use std::time::Duration;

use tollgate::{Charge, FixedWindow, Key, Limit, Operation, Quota, Store};

use support::redis::{RedisServer, calls};

use crate::recorder::TestRecorder;

pub(crate) const REQUESTS: u64 = 100;

/// Requests of a busy key, and the return of what is left. Returns the number of calls for the requests.
pub(crate) async fn lease_and_return() -> u64 {
    let server = RedisServer::start();
    let store = server.store().build().unwrap();
    let window = FixedWindow::new(Quota::per_day(100_000)).anchored();
    let limit = Limit::new("leased", window).lease(Duration::from_secs(30));
    store.check().await.unwrap();
    let redis = &mut server.client();
    let before = calls(redis, "evalsha");
    for _ in 0..REQUESTS {
        let charge = Charge::new(limit.clone(), Key::GLOBAL);
        assert!(store.apply(Operation::Acquire(charge.into())).await.unwrap().admits());
    }
    store.return_leases().await;
    calls(redis, "evalsha") - before
}

#[tokio::test]
async fn units_are_spent_or_returned() {
    let recorded = TestRecorder::start();
    let calls = lease_and_return().await;
    let units = recorded.counted("tollgate_leased_units_total");
    let [leased, spent, returned] =
        ["leased", "spent", "returned"].map(|outcome| units[&format!("limit=leased outcome={outcome}")]);
    assert_eq!(leased, spent + returned);
    assert_eq!(recorded.counted("tollgate_local_requests_total")[""], spent);
    let leases = recorded.counted("tollgate_leases_total")["limit=leased"];
    assert!(leases >= 2.0, "{leases}");
    // The other requests needed a call each; some of these brought a lease. A renewal is a call, and so is a return.
    assert!(calls as f64 >= REQUESTS as f64 - spent + 1.0, "{calls}");
}
