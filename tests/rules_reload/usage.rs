//! Usage when a limit changes: it is kept for as long as the limit counts in the same way.

use crate::rules_reload::api::{Api, SECOND, TestStore, limit, on_both_stores};

on_both_stores![
    a_raised_or_lowered_limit_keeps_its_usage,
    a_changed_capacity_keeps_its_usage,
    a_bucket_refills_at_the_new_rate,
    a_limit_of_another_shape_starts_fresh_and_keeps_the_old_usage,
    a_removed_limit_keeps_its_usage,
    limits_in_another_order_are_the_same,
    expired_usage_is_not_kept,
];

/// Every algorithm, without its limit.
const EACH: [&str; 7] = [
    "algorithm = 'token_bucket'",
    "algorithm = 'leaky_bucket'",
    "algorithm = 'leaky_bucket'; queue = false",
    "algorithm = 'fixed_window'",
    "algorithm = 'fixed_window'; anchored = true",
    "algorithm = 'sliding_log'",
    "algorithm = 'sliding_counter'; sub_windows = 6",
];

fn per_minute(algorithm: &str, amount: u32) -> String {
    limit(&format!("name = 'api'; limit = {amount}; window = '1m'; {algorithm}"))
}

/// A server on which two units are used.
async fn two_used<St: TestStore>(rules: &str) -> Api<St> {
    let double = format!("{rules}cost = 2\n");
    let api = Api::<St>::start(&double).await;
    assert_eq!(api.status().await.0, 200);
    api.replace(rules);
    api
}

async fn a_raised_or_lowered_limit_keeps_its_usage<St: TestStore>() {
    for algorithm in EACH {
        let api = two_used::<St>(&per_minute(algorithm, 10)).await;
        for (amount, left) in [(10, 8), (100, 98), (5, 3), (2, 0), (1, 0), (10, 8)] {
            api.replace(&per_minute(algorithm, amount));
            assert_eq!(api.left().await, [left], "{algorithm}, {amount}");
        }
        api.replace(&per_minute(algorithm, 2));
        assert_eq!(api.status().await, (429, "0".into()), "{algorithm}");
        // A queued request would not be answered yet.
        if algorithm != EACH[1] {
            api.replace(&per_minute(algorithm, 100));
            assert_eq!(api.status().await, (200, "97".into()), "{algorithm}");
            api.replace(&per_minute(algorithm, 3));
            assert_eq!(api.status().await, (429, "0".into()), "{algorithm}");
        }
    }
}

async fn a_changed_capacity_keeps_its_usage<St: TestStore>() {
    for algorithm in &EACH[..3] {
        let with = |capacity| per_minute(algorithm, 7) + &format!("capacity = {capacity}\n");
        let api = two_used::<St>(&with(10)).await;
        for (capacity, left) in [(100, 98), (5, 3), (1, 0), (10, 8)] {
            api.replace(&with(capacity));
            assert_eq!(api.left().await, [left], "{algorithm}, {capacity}");
        }
    }
}

async fn a_bucket_refills_at_the_new_rate<St: TestStore>() {
    for algorithm in &EACH[..3] {
        let with = |amount| per_minute(algorithm, amount) + "capacity = 10\n";
        let api = Api::<St>::start(&(with(60) + "cost = 10\n")).await;
        assert_eq!(api.status().await.0, 200);
        api.clock.advance(3 * SECOND);
        // The new rate applies from the last charge.
        for (amount, left) in [(60, 3), (120, 6), (30, 1), (7, 0), (200, 10), (60, 3)] {
            api.replace(&with(amount));
            assert_eq!(api.left().await, [left], "{algorithm}, {amount}");
        }
    }
}

async fn a_limit_of_another_shape_starts_fresh_and_keeps_the_old_usage<St: TestStore>() {
    for (before, after) in [
        ("name = 'api'", "name = 'other'"),
        ("window = '1m'", "window = '2m'"),
        (
            "algorithm = 'fixed_window'",
            "algorithm = 'fixed_window'; anchored = true",
        ),
        ("algorithm = 'fixed_window'", "algorithm = 'sliding_log'"),
        (
            "algorithm = 'token_bucket'",
            "algorithm = 'leaky_bucket'; queue = false",
        ),
        (
            "algorithm = 'sliding_counter'; sub_windows = 6",
            "algorithm = 'sliding_counter'; sub_windows = 3",
        ),
        (
            "algorithm = 'sliding_counter'; sub_windows = 6",
            "algorithm = 'sliding_counter'",
        ),
    ] {
        let defaults = ["name = 'api'", "window = '1m'", "algorithm = 'fixed_window'"];
        let with = |changed: &str| {
            let field = &changed[..=changed.find('=').unwrap()];
            let others = defaults.iter().filter(|other| !other.starts_with(field));
            limit(&others.fold(format!("limit = 10; {changed}"), |all, other| format!("{all}; {other}")))
        };
        let api = two_used::<St>(&with(before)).await;
        assert_eq!(api.left().await, [8], "{before}");
        api.replace(&with(after));
        assert_eq!(api.left().await, [10], "{after}");
        assert_eq!(api.status().await, (200, "9".into()), "{after}");
        api.replace(&with(before));
        assert_eq!(api.left().await, [8], "{before}");
        assert_eq!(api.status().await, (200, "7".into()), "{before}");
        api.replace(&with(after));
        assert_eq!(api.left().await, [9], "{after}");
    }
}

async fn a_removed_limit_keeps_its_usage<St: TestStore>() {
    let [first, second] =
        ["first", "second"].map(|name| limit(&format!("name = '{name}'; limit = 10; window = '1d'; {}", EACH[3])));
    let both = first.clone() + &second;
    let api = Api::<St>::start(&both).await;
    assert_eq!(api.status().await, (200, "9".into()));
    api.replace(&first);
    for left in ["8", "7"] {
        assert_eq!(api.status().await, (200, left.into()));
    }
    api.replace(&both);
    assert_eq!(api.left().await, [7, 9]);
    assert_eq!(api.status().await, (200, "6".into()));
    assert_eq!(api.left().await, [6, 8]);
}

async fn limits_in_another_order_are_the_same<St: TestStore>() {
    let tier = |name: &str, amount: u32| {
        limit(&format!(
            "name = '{name}'; limit = {amount}; window = '1d'; {}",
            EACH[3]
        ))
    };
    let [one, two] = [tier("one", 10) + &tier("two", 20), tier("two", 20) + &tier("one", 10)];
    let api = Api::<St>::start(&one).await;
    for (order, left) in [(&one, [9, 19]), (&two, [18, 8]), (&one, [7, 17])] {
        api.replace(order);
        assert_eq!(api.get(0).await.status, 200);
        assert_eq!(api.left().await, left);
    }
}

async fn expired_usage_is_not_kept<St: TestStore>() {
    for algorithm in EACH {
        let api = two_used::<St>(&per_minute(algorithm, 10)).await;
        api.replace(&limit(
            "name = 'other'; limit = 1; window = '1m'; algorithm = 'sliding_log'",
        ));
        api.clock.advance(120 * SECOND);
        api.replace(&per_minute(algorithm, 5));
        assert_eq!(api.left().await, [5], "{algorithm}");
    }
}
