//! Requests that wait while the rules change: they leave when they were told, by the rules that they came in by.

use tokio::task::JoinHandle;

use support::{each_store::NOW, http::Reply, patience::yielding};

use crate::rules_reload::api::{Api, MICRO, SECOND, TestStore, limit, on_both_stores};

on_both_stores![
    a_queue_becomes_faster_or_slower_for_those_who_come_later,
    a_queue_becomes_shorter_for_those_who_come_later,
    those_who_come_later_wait_for_less_long_at_most,
    those_in_a_queue_that_is_removed_leave_in_their_turn,
    who_hangs_up_gives_a_place_back_though_the_queue_has_changed,
    who_waits_in_place_of_being_refused_is_not_overtaken_by_who_comes_later,
    who_waits_passes_when_it_was_told_though_the_limit_is_lowered,
    who_waits_passes_when_it_was_told_though_the_limit_is_removed,
];

fn queue(settings: &str) -> String {
    limit(&format!(
        "name = 'queue'; algorithm = 'leaky_bucket'; window = '1m'; {settings}"
    ))
}

const ONE_A_SECOND: &str = "limit = 60; capacity = 10";
const OTHER: &str = "name = 'other'; algorithm = 'fixed_window'; limit = 100; window = '1d'";

/// A queue of one a second which the first of three requests has left.
async fn queued<St: TestStore>() -> (Api<St>, [JoinHandle<Reply>; 2]) {
    let api = Api::<St>::start(&queue(ONE_A_SECOND)).await;
    assert_eq!(api.get(0).await.status, 200);
    let waiting = [api.wait(1).await, api.wait(2).await];
    (api, waiting)
}

/// Lets time go by until a request is answered, which it is at that many milliseconds and not a microsecond before.
async fn leaves<St: TestStore>(api: &Api<St>, request: JoinHandle<Reply>, at: u64) {
    let (before, served) = (api.clock.waiting(), api.served());
    api.clock.set(NOW + at * 1000 - 1);
    tokio::task::yield_now().await;
    assert_eq!((api.clock.waiting(), api.served()), (before, served));
    api.clock.advance(MICRO);
    assert_eq!(request.await.unwrap().status, 200);
}

/// Requests, and the second each was served at.
fn seconds<const N: usize>(served: [(u32, u64); N]) -> [(u32, u64); N] {
    served.map(|(request, at)| (request, at * 1_000_000))
}

async fn a_queue_becomes_faster_or_slower_for_those_who_come_later<St: TestStore>() {
    let (api, [one, two]) = queued::<St>().await;
    api.replace(&queue("limit = 120; capacity = 10"));
    let three = api.wait(3).await;
    assert_eq!(api.left().await, [6]);
    leaves(&api, one, 1_000).await;
    leaves(&api, three, 1_500).await;
    leaves(&api, two, 2_000).await;
    assert_eq!(api.left().await, [10]);

    let (api, [one, two]) = queued::<St>().await;
    api.replace(&queue("limit = 30; capacity = 10"));
    let three = api.wait(3).await;
    assert_eq!(api.left().await, [6]);
    leaves(&api, one, 1_000).await;
    leaves(&api, two, 2_000).await;
    leaves(&api, three, 6_000).await;
    assert_eq!(api.left().await, [9]);
    assert_eq!(api.served(), seconds([(0, 0), (1, 1), (2, 2), (3, 6)]));
}

async fn a_queue_becomes_shorter_for_those_who_come_later<St: TestStore>() {
    let (api, [one, two]) = queued::<St>().await;
    api.replace(&queue("limit = 60; capacity = 2"));
    assert_eq!(api.status().await, (429, "0".into()));
    leaves(&api, one, 1_000).await;
    assert_eq!(api.status().await, (429, "0".into()));
    leaves(&api, two, 2_000).await;
    let three = api.wait(3).await;
    assert_eq!(api.status().await, (429, "0".into()));
    leaves(&api, three, 3_000).await;
    assert_eq!(api.served(), seconds([(0, 0), (1, 1), (2, 2), (3, 3)]));
}

async fn those_who_come_later_wait_for_less_long_at_most<St: TestStore>() {
    let (api, [one, two]) = queued::<St>().await;
    api.replace(&queue(&format!("{ONE_A_SECOND}; max_wait = '1s'")));
    assert_eq!(api.status().await, (429, "7".into()));
    api.replace(&queue(&format!("{ONE_A_SECOND}; max_wait = '3s'")));
    let three = api.wait(3).await;
    assert_eq!(api.status().await, (429, "6".into()));
    // Who does not wait at all passes for as long as there is room.
    api.replace(&queue(&format!("{ONE_A_SECOND}; queue = false")));
    assert_eq!(api.status().await, (200, "5".into()));
    leaves(&api, one, 1_000).await;
    leaves(&api, two, 2_000).await;
    leaves(&api, three, 3_000).await;
    assert_eq!(api.left().await, [8]);
}

async fn those_in_a_queue_that_is_removed_leave_in_their_turn<St: TestStore>() {
    let (api, [one, two]) = queued::<St>().await;
    api.replace(&limit(OTHER));
    assert_eq!(api.get(3).await.status, 200);
    leaves(&api, one, 1_000).await;
    leaves(&api, two, 2_000).await;
    assert_eq!(api.served(), seconds([(0, 0), (3, 0), (1, 1), (2, 2)]));
    assert_eq!(api.left().await, [99]);
}

async fn who_hangs_up_gives_a_place_back_though_the_queue_has_changed<St: TestStore>() {
    for (settings, left) in [("limit = 120; capacity = 10", 7), ("limit = 60; capacity = 30", 27)] {
        let (api, [one, two]) = queued::<St>().await;
        api.replace(&queue(settings));
        assert_eq!(api.left().await, [left]);
        two.abort();
        yielding(async || api.left().await != [left]).await;
        assert_eq!(api.left().await, [left + 1]);
        leaves(&api, one, 1_000).await;
    }
}

/// One every ten seconds, and one at once.
const SLOW: &str = "name = 'api'; algorithm = 'token_bucket'; limit = 6; capacity = 1; window = '1m'";

/// A limit that one request has used up, and another one waits for.
async fn one_waits<St: TestStore>() -> (Api<St>, JoinHandle<Reply>) {
    let api = Api::<St>::start_waiting(&limit(SLOW), 60 * SECOND).await;
    assert_eq!(api.get(0).await.status, 200);
    let waiting = api.wait(1).await;
    (api, waiting)
}

async fn who_waits_in_place_of_being_refused_is_not_overtaken_by_who_comes_later<St: TestStore>() {
    let (api, one) = one_waits::<St>().await;
    api.replace(&limit(
        "name = 'api'; algorithm = 'token_bucket'; limit = 60; capacity = 10; window = '1m'",
    ));
    assert_eq!(api.left().await, [9]);
    let two = api.wait(2).await;
    leaves(&api, one, 10_000).await;
    assert_eq!(two.await.unwrap().status, 200);
    assert_eq!(api.served(), seconds([(0, 0), (1, 10), (2, 10)]));
    assert_eq!(api.left().await, [8]);
    // Those who came by the old limit have left.
    assert_eq!(api.status().await, (200, "7".into()));
}

async fn who_waits_passes_when_it_was_told_though_the_limit_is_lowered<St: TestStore>() {
    let (api, one) = one_waits::<St>().await;
    api.replace(&limit(&SLOW.replace("limit = 6", "limit = 3")));
    let two = api.wait(2).await;
    leaves(&api, one, 10_000).await;
    yielding(async || api.clock.waiting() == 1).await;
    leaves(&api, two, 30_000).await;
    assert_eq!(api.left().await, [0]);
}

async fn who_waits_passes_when_it_was_told_though_the_limit_is_removed<St: TestStore>() {
    let (api, one) = one_waits::<St>().await;
    api.replace(&limit(OTHER));
    assert_eq!(api.get(2).await.status, 200);
    leaves(&api, one, 10_000).await;
    assert_eq!(api.served(), seconds([(0, 0), (2, 0), (1, 10)]));
    assert_eq!(api.left().await, [99]);
}
