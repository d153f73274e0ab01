//! Requests that wait while the rules change: they depart at the time that the old rules promised.

use tokio::task::JoinHandle;

use support::{each_store::NOW, http::Reply, wait::yield_until};

use crate::rules_reload::api::{Api, MICRO, SECOND, TestStore, limit, on_both_stores};

on_both_stores![
    a_new_rate_applies_to_later_requests,
    a_new_capacity_applies_to_later_requests,
    a_new_max_wait_applies_to_later_requests,
    requests_in_a_removed_queue_depart_on_time,
    a_disconnect_frees_a_place_in_a_longer_queue,
    a_disconnect_frees_no_place_in_a_faster_queue,
    a_waiting_request_is_not_overtaken_after_a_change,
    a_waiting_request_is_admitted_on_time_though_the_limit_is_lowered,
    a_waiting_request_is_admitted_on_time_though_the_limit_is_removed,
];

fn queue(settings: &str) -> String {
    limit(&format!(
        "name = 'queue'; algorithm = 'leaky_bucket'; window = '1m'; {settings}"
    ))
}

const ONE_A_SECOND: &str = "limit = 60; capacity = 10";
const OTHER: &str = "name = 'other'; algorithm = 'fixed_window'; limit = 100; window = '1d'";

/// A queue of one request per second, which the first of three requests has passed.
async fn queued<St: TestStore>() -> (Api<St>, [JoinHandle<Reply>; 2]) {
    let api = Api::<St>::start(&queue(ONE_A_SECOND)).await;
    assert_eq!(api.get(0).await.status, 200);
    let waiting = [api.wait(1).await, api.wait(2).await];
    (api, waiting)
}

/// Advances the clock until a request is answered, at this many milliseconds and not a microsecond before.
async fn departs<St: TestStore>(api: &Api<St>, request: JoinHandle<Reply>, at: u64) {
    let (before, served) = (api.clock.pending_sleeps(), api.served());
    api.clock.set(NOW + at * 1000 - 1);
    tokio::task::yield_now().await;
    assert_eq!((api.clock.pending_sleeps(), api.served()), (before, served));
    api.clock.advance(MICRO);
    assert_eq!(request.await.unwrap().status, 200);
}

/// Requests, and the second at which each was served.
fn seconds<const N: usize>(served: [(u32, u64); N]) -> [(u32, u64); N] {
    served.map(|(request, at)| (request, at * 1_000_000))
}

async fn a_new_rate_applies_to_later_requests<St: TestStore>() {
    let (api, [one, two]) = queued::<St>().await;
    api.replace(&queue("limit = 120; capacity = 10"));
    let three = api.wait(3).await;
    assert_eq!(api.left().await, [6]);
    departs(&api, one, 1_000).await;
    departs(&api, three, 1_500).await;
    departs(&api, two, 2_000).await;
    assert_eq!(api.left().await, [10]);

    let (api, [one, two]) = queued::<St>().await;
    api.replace(&queue("limit = 30; capacity = 10"));
    let three = api.wait(3).await;
    assert_eq!(api.left().await, [6]);
    departs(&api, one, 1_000).await;
    departs(&api, two, 2_000).await;
    departs(&api, three, 6_000).await;
    assert_eq!(api.left().await, [9]);
    assert_eq!(api.served(), seconds([(0, 0), (1, 1), (2, 2), (3, 6)]));
}

async fn a_new_capacity_applies_to_later_requests<St: TestStore>() {
    let (api, [one, two]) = queued::<St>().await;
    api.replace(&queue("limit = 60; capacity = 2"));
    assert_eq!(api.status().await, (429, "0".into()));
    departs(&api, one, 1_000).await;
    assert_eq!(api.status().await, (429, "0".into()));
    departs(&api, two, 2_000).await;
    let three = api.wait(3).await;
    assert_eq!(api.status().await, (429, "0".into()));
    departs(&api, three, 3_000).await;
    assert_eq!(api.served(), seconds([(0, 0), (1, 1), (2, 2), (3, 3)]));
}

async fn a_new_max_wait_applies_to_later_requests<St: TestStore>() {
    let (api, [one, two]) = queued::<St>().await;
    api.replace(&queue(&format!("{ONE_A_SECOND}; max_wait = '1s'")));
    assert_eq!(api.status().await, (429, "7".into()));
    api.replace(&queue(&format!("{ONE_A_SECOND}; max_wait = '3s'")));
    let three = api.wait(3).await;
    assert_eq!(api.status().await, (429, "6".into()));
    // A bucket that polices admits requests for as long as it has capacity.
    api.replace(&queue(&format!("{ONE_A_SECOND}; queue = false")));
    assert_eq!(api.status().await, (200, "5".into()));
    departs(&api, one, 1_000).await;
    departs(&api, two, 2_000).await;
    departs(&api, three, 3_000).await;
    assert_eq!(api.left().await, [8]);
}

async fn requests_in_a_removed_queue_depart_on_time<St: TestStore>() {
    let (api, [one, two]) = queued::<St>().await;
    api.replace(&limit(OTHER));
    assert_eq!(api.get(3).await.status, 200);
    departs(&api, one, 1_000).await;
    departs(&api, two, 2_000).await;
    assert_eq!(api.served(), seconds([(0, 0), (3, 0), (1, 1), (2, 2)]));
    assert_eq!(api.left().await, [99]);
}

async fn a_disconnect_frees_a_place_in_a_longer_queue<St: TestStore>() {
    let (api, [one, two]) = queued::<St>().await;
    api.replace(&queue("limit = 60; capacity = 30"));
    assert_eq!(api.left().await, [27]);
    two.abort();
    yield_until(async || api.left().await != [27]).await;
    assert_eq!(api.left().await, [28]);
    departs(&api, one, 1_000).await;
}

/// It is not known what a request has left in a queue that is emptied at another rate.
async fn a_disconnect_frees_no_place_in_a_faster_queue<St: TestStore>() {
    let (api, [one, two]) = queued::<St>().await;
    api.replace(&queue("limit = 120; capacity = 10"));
    assert_eq!(api.left().await, [7]);
    two.abort();
    yield_until(async || api.clock.pending_sleeps() == 1).await;
    assert_eq!(api.left().await, [7]);
    departs(&api, one, 1_000).await;
}

/// One request per ten seconds, without bursts.
const SLOW: &str = "name = 'api'; algorithm = 'token_bucket'; limit = 6; capacity = 1; window = '1m'";

/// A limit that one request has exhausted, and another one waits for.
async fn one_waits<St: TestStore>() -> (Api<St>, JoinHandle<Reply>) {
    let api = Api::<St>::start_waiting(&limit(SLOW), 60 * SECOND).await;
    assert_eq!(api.get(0).await.status, 200);
    let waiting = api.wait(1).await;
    (api, waiting)
}

async fn a_waiting_request_is_not_overtaken_after_a_change<St: TestStore>() {
    let (api, one) = one_waits::<St>().await;
    api.replace(&limit(
        "name = 'api'; algorithm = 'token_bucket'; limit = 60; capacity = 10; window = '1m'",
    ));
    assert_eq!(api.left().await, [9]);
    let two = api.wait(2).await;
    departs(&api, one, 10_000).await;
    assert_eq!(two.await.unwrap().status, 200);
    assert_eq!(api.served(), seconds([(0, 0), (1, 10), (2, 10)]));
    assert_eq!(api.left().await, [8]);
    // The requests under the old limit have departed.
    assert_eq!(api.status().await, (200, "7".into()));
}

async fn a_waiting_request_is_admitted_on_time_though_the_limit_is_lowered<St: TestStore>() {
    let (api, one) = one_waits::<St>().await;
    api.replace(&limit(&SLOW.replace("limit = 6", "limit = 3")));
    let two = api.wait(2).await;
    departs(&api, one, 10_000).await;
    yield_until(async || api.clock.pending_sleeps() == 1).await;
    departs(&api, two, 30_000).await;
    assert_eq!(api.left().await, [0]);
}

async fn a_waiting_request_is_admitted_on_time_though_the_limit_is_removed<St: TestStore>() {
    let (api, one) = one_waits::<St>().await;
    api.replace(&limit(OTHER));
    assert_eq!(api.get(2).await.status, 200);
    departs(&api, one, 10_000).await;
    assert_eq!(api.served(), seconds([(0, 0), (2, 0), (1, 10)]));
    assert_eq!(api.left().await, [99]);
}
