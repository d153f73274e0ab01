//! Metrics of a layer on a cluster of which one node is down.

use tollgate::{AsError, FixedWindow, Key, Limit, Quota, RateLimitLayer, Tier};

use support::{cluster::Cluster, requests::count_admitted};

use crate::recorder::{TestRecorder, samples};

/// Anchored, so that the window does not end at midnight.
fn window() -> FixedWindow {
    FixedWindow::new(Quota::per_day(2)).anchored()
}

/// Sends five requests with a limit on a node that is up, and a limit and a shadow on a node that is down.
pub(crate) async fn send_with_a_node_down() {
    let mut cluster = Cluster::start();
    let store = cluster.store().cache_denials(false).build().unwrap();
    let redis_key = |name: &str, key: &Key| store.redis_key(&Limit::new(name, window()), key);
    let nodes = cluster.primaries();
    let key_on = |node: usize, name: &str| cluster.key_on(nodes[node], |key| redis_key(name, key));
    let [up, down, shadow] = [key_on(0, "up"), key_on(1, "down"), key_on(1, "shadow")];
    cluster.kill_owner(cluster.slot_of(&redis_key("down", &down)));
    let extract = |key: Key| move |_: &&'static str| key.clone();
    let checked = RateLimitLayer::new(Tier::new("up", window(), extract(up)), store.clone());
    let with_shadow = checked
        .clone()
        .tier(Tier::new("shadow", window(), extract(shadow)).shadow());
    assert_eq!(
        count_admitted(&with_shadow.respond_with(AsError), ["request"; 1]).await,
        1
    );
    let layer = checked
        .tier(Tier::new("down", window(), extract(down)))
        .respond_with(AsError);
    assert_eq!(count_admitted(&layer, ["request"; 4]).await, 1);
}

#[tokio::test]
async fn limits_on_a_node_that_is_down_are_counted_as_unchecked() {
    let recorded = TestRecorder::start();
    send_with_a_node_down().await;
    assert_eq!(
        recorded.counted("tollgate_decisions_total"),
        samples([
            ("limit=down outcome=unchecked", 4),
            ("limit=shadow outcome=unchecked", 1),
            ("limit=up outcome=admitted", 2),
            ("limit=up outcome=limited", 3),
        ])
    );
    // A shadow that was not checked could not have denied the request.
    assert_eq!(
        recorded.counted("tollgate_requests_total"),
        samples([
            ("by=store outcome=admitted", 1),
            ("by=store outcome=failed_open", 1),
            ("by=store outcome=limited", 3),
        ])
    );
}
