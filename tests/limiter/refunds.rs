//! Refunds, settlements and resets.

use tollgate::{CallKey, Global, Key, Limiter, Quota, Tier};

use support::{
    algorithms::each_algorithm,
    each_store::{TestStore, on_both_stores},
};

use crate::limiter::{SECOND, alice, bob, expect_decision, one_per_10s, remaining, summary};

on_both_stores![
    a_refund_restores_the_charge,
    a_refund_restores_every_tier,
    a_refund_after_the_window_changes_nothing,
    one_receipt_per_charged_decision,
    a_settlement_corrects_the_charge,
    a_settlement_by_name_corrects_one_tier,
    a_reset_clears_one_key,
    a_reset_keeps_the_global_tiers,
];

async fn a_refund_restores_the_charge<St: TestStore>() {
    for algorithm in each_algorithm(Quota::per_minute(10)) {
        let (store, _) = St::fresh();
        let limiter = Limiter::new(Tier::new("api", algorithm, CallKey), store);
        assert_eq!(
            summary(limiter.check_n(&alice(), 7).await),
            (true, vec![3]),
            "{algorithm:?}"
        );
        let mut decision = expect_decision(limiter.check_n(&alice(), 3).await);
        assert_eq!(remaining(&decision), [0], "{algorithm:?}");
        assert_eq!(
            summary(limiter.check_n(&alice(), 3).await),
            (false, vec![0]),
            "{algorithm:?}"
        );
        let receipt = decision.take_receipt().unwrap();
        assert_eq!(summary(limiter.refund(receipt).await), (true, vec![3]), "{algorithm:?}");
        assert_eq!(
            summary(limiter.check_n(&alice(), 3).await),
            (true, vec![0]),
            "{algorithm:?}"
        );
    }
}

async fn a_refund_restores_every_tier<St: TestStore>() {
    let (store, _) = St::fresh();
    let limiter = Limiter::fixed_window("minute", Quota::per_minute(5), store)
        .tier(Tier::sliding_log("log", Quota::per_minute(5), CallKey))
        .tier(Tier::new("all", one_per_10s(), Global));
    let mut decision = expect_decision(limiter.check(&alice()).await);
    assert_eq!(summary(limiter.check(&bob()).await), (false, vec![5, 5, 0]));
    // Every charged tier is refunded, so the shared quota is available to other keys again.
    let receipt = decision.take_receipt().unwrap();
    assert_eq!(summary(limiter.refund(receipt).await), (true, vec![5, 5, 1]));
    assert_eq!(summary(limiter.check(&bob()).await), (true, vec![4, 4, 0]));
}

async fn a_refund_after_the_window_changes_nothing<St: TestStore>() {
    for algorithm in each_algorithm(Quota::per_minute(10)) {
        let (store, clock) = St::fresh();
        let limiter = Limiter::new(Tier::new("api", algorithm, CallKey), store);
        let receipt = expect_decision(limiter.check_n(&alice(), 5).await)
            .take_receipt()
            .unwrap();
        clock.advance(125 * SECOND);
        assert_eq!(
            summary(limiter.check_n(&alice(), 4).await),
            (true, vec![6]),
            "{algorithm:?}"
        );
        assert_eq!(summary(limiter.refund(receipt).await), (true, vec![6]), "{algorithm:?}");
        assert_eq!(summary(limiter.peek(&alice()).await), (true, vec![6]), "{algorithm:?}");
    }
}

async fn one_receipt_per_charged_decision<St: TestStore>() {
    let (store, _) = St::fresh();
    let limiter = Limiter::new(Tier::new("api", one_per_10s(), CallKey), store).tier(Tier::fixed_window(
        "day",
        Quota::per_day(9),
        CallKey,
    ));
    assert!(expect_decision(limiter.peek(&alice()).await).take_receipt().is_none());
    let mut decision = expect_decision(limiter.check(&alice()).await);
    assert!(decision.without_receipt().take_receipt().is_none());
    let receipt = decision.take_receipt().unwrap();
    assert!(decision.take_receipt().is_none());
    let costs = receipt.costs().map(|(limit, cost)| (limit.name(), cost));
    assert_eq!(costs.collect::<Vec<_>>(), [("api", 1), ("day", 1)]);
    assert!(expect_decision(limiter.check(&alice()).await).take_receipt().is_none());
}

async fn a_settlement_corrects_the_charge<St: TestStore>() {
    // The limit is 10 per minute, and 3 are charged: the settled cost, and what remains.
    for (cost, left) in [(0, 10), (1, 9), (3, 7), (8, 2), (10, 0), (15, 0)] {
        let (store, clock) = St::fresh();
        let limiter = Limiter::token_bucket("api", Quota::per_minute(10), store);
        let receipt = expect_decision(limiter.check_n(&alice(), 3).await)
            .take_receipt()
            .unwrap();
        assert_eq!(
            summary(limiter.settle(receipt.settled(cost)).await),
            (true, vec![left]),
            "{cost}"
        );
        // Later requests pay for the excess, six seconds per unit.
        clock.advance(30 * SECOND);
        let expected = (15 - cost).min(10);
        assert_eq!(summary(limiter.peek(&alice()).await), (true, vec![expected]), "{cost}");
    }
}

async fn a_settlement_by_name_corrects_one_tier<St: TestStore>() {
    let (store, _) = St::fresh();
    let limiter = Limiter::fixed_window("calls", Quota::per_minute(10), store).tier(Tier::token_bucket(
        "tokens",
        Quota::per_minute(1000),
        CallKey,
    ));
    let receipt = expect_decision(limiter.check(&alice()).await).take_receipt().unwrap();
    let settled = limiter.settle(receipt.settled_for("tokens", 250)).await;
    assert_eq!(summary(settled), (true, vec![9, 750]));
}

async fn a_reset_clears_one_key<St: TestStore>() {
    for algorithm in each_algorithm(Quota::per_minute(10)) {
        let (store, _) = St::fresh();
        let limiter = Limiter::new(Tier::new("api", algorithm, CallKey), store);
        for user in [alice(), bob()] {
            assert_eq!(
                summary(limiter.check_n(&user, 10).await),
                (true, vec![0]),
                "{algorithm:?}"
            );
            assert_eq!(summary(limiter.check(&user).await), (false, vec![0]), "{algorithm:?}");
        }
        assert_eq!(
            summary(limiter.reset(&alice()).await),
            (true, vec![10]),
            "{algorithm:?}"
        );
        assert_eq!(summary(limiter.check(&alice()).await), (true, vec![9]), "{algorithm:?}");
        assert_eq!(summary(limiter.check(&bob()).await), (false, vec![0]), "{algorithm:?}");
        // A reset of a fresh key succeeds.
        assert_eq!(
            summary(limiter.reset(&Key::GLOBAL).await),
            (true, vec![10]),
            "{algorithm:?}"
        );
    }
}

async fn a_reset_keeps_the_global_tiers<St: TestStore>() {
    let (store, _) = St::fresh();
    let limiter = Limiter::fixed_window("minute", Quota::per_minute(5), store)
        .tier(Tier::leaky_bucket("queue", Quota::per_minute(5), CallKey))
        .tier(Tier::fixed_window("all", Quota::per_minute(20), Global));
    assert_eq!(summary(limiter.check_n(&alice(), 5).await), (true, vec![0, 0, 15]));
    assert_eq!(summary(limiter.reset(&alice()).await), (true, vec![5, 5]));
    assert_eq!(summary(limiter.peek(&alice()).await), (true, vec![5, 5, 15]));
    // Nor does a reset of the global key, under which the shared tier counts.
    assert_eq!(summary(limiter.reset(&Key::GLOBAL).await), (true, vec![5, 5]));
    assert_eq!(summary(limiter.peek(&alice()).await), (true, vec![5, 5, 15]));
}
