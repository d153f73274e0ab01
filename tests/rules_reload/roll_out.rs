//! Two nodes with two versions of the rules on one store, as during a roll-out.

use tollgate::ManualClock;

use support::each_store::NOW;

use crate::rules_reload::api::{Api, TestStore, limit, on_both_stores};

on_both_stores![
    each_node_applies_its_own_limit_to_the_shared_usage,
    another_window_on_the_other_node_is_counted_separately,
];

async fn nodes<St: TestStore>(rules: [&str; 2]) -> [Api<St>; 2] {
    let clock = ManualClock::at(NOW);
    let [old, new] = St::nodes(&clock);
    [
        Api::on(old, clock.clone(), rules[0]).await,
        Api::on(new, clock, rules[1]).await,
    ]
}

async fn each_node_applies_its_own_limit_to_the_shared_usage<St: TestStore>() {
    for algorithm in ["token_bucket", "fixed_window", "sliding_log", "sliding_counter"] {
        let version = |amount| {
            limit(&format!(
                "name = 'api'; limit = {amount}; window = '1h'; algorithm = '{algorithm}'"
            ))
        };
        let [old, new] = nodes::<St>([&version(4), &version(7)]).await;
        assert_eq!(old.status().await, (200, "3".into()), "{algorithm}");
        assert_eq!(new.status().await, (200, "5".into()), "{algorithm}");
        assert_eq!(old.status().await, (200, "1".into()), "{algorithm}");
        assert_eq!(new.status().await, (200, "3".into()), "{algorithm}");
        assert_eq!(old.status().await, (429, "0".into()), "{algorithm}");
        assert_eq!(new.status().await, (200, "2".into()), "{algorithm}");
        assert_eq!(old.status().await, (429, "0".into()), "{algorithm}");
        old.replace(&version(7));
        assert_eq!(old.status().await, (200, "1".into()), "{algorithm}");
        assert_eq!(new.status().await, (200, "0".into()), "{algorithm}");
        assert_eq!(old.status().await, (429, "0".into()), "{algorithm}");
    }
}

async fn another_window_on_the_other_node_is_counted_separately<St: TestStore>() {
    let version = |window: &str| {
        limit(&format!(
            "name = 'api'; limit = 3; window = '{window}'; algorithm = 'fixed_window'"
        ))
    };
    let [old, new] = nodes::<St>([&version("1h"), &version("2h")]).await;
    for (left, status) in [("2", 200), ("1", 200), ("0", 200), ("0", 429)] {
        assert_eq!(old.status().await, (status, left.into()));
        assert_eq!(new.status().await, (status, left.into()));
    }
    // A node that switches to the new window shares what the other node has used of it.
    old.replace(&version("2h"));
    assert_eq!(old.status().await, (429, "0".into()));
}
