//! Charges that are given back, corrected or forgotten.

use tollgate::{FixedWindow, Key, LeakyBucket, Limiter, Quota, SlidingLog, TokenBucket};

use support::{
    each_store::{TestStore, on_both_stores},
    rules::each_algorithm,
};

use crate::limiter::{SECOND, alice, bob, decided, one, remaining, told};

on_both_stores![
    a_refund_gives_back_what_was_charged,
    a_refund_of_one_tier_after_another,
    a_refund_after_the_window_changes_nothing,
    there_is_one_receipt_and_only_of_what_was_charged,
    a_settle_corrects_what_was_charged,
    a_settle_by_name_corrects_one_tier,
    a_reset_forgets_one_key,
    a_reset_leaves_what_everybody_shares,
];

async fn a_refund_gives_back_what_was_charged<St: TestStore>() {
    for rule in each_algorithm(Quota::per_minute(10)) {
        let (store, _) = St::fresh();
        let limiter = Limiter::new("api", rule, store);
        assert_eq!(told(limiter.check_n(&alice(), 7).await), (true, vec![3]), "{rule:?}");
        let mut decision = decided(limiter.check_n(&alice(), 3).await);
        assert_eq!(remaining(&decision), [0], "{rule:?}");
        assert_eq!(told(limiter.check_n(&alice(), 3).await), (false, vec![0]), "{rule:?}");
        let receipt = decision.take_receipt().unwrap();
        assert_eq!(told(limiter.refund(receipt).await), (true, vec![3]), "{rule:?}");
        assert_eq!(told(limiter.check_n(&alice(), 3).await), (true, vec![0]), "{rule:?}");
    }
}

async fn a_refund_of_one_tier_after_another<St: TestStore>() {
    let (store, _) = St::fresh();
    let limiter = Limiter::new("minute", FixedWindow::new(Quota::per_minute(5)), store)
        .tier("log", SlidingLog::new(Quota::per_minute(5)))
        .shared_tier("all", one());
    let mut decision = decided(limiter.check(&alice()).await);
    assert_eq!(told(limiter.check(&bob()).await), (false, vec![5, 5, 0]));
    // In every tier that it was taken from, and what everybody shares is there for others again.
    let receipt = decision.take_receipt().unwrap();
    assert_eq!(told(limiter.refund(receipt).await), (true, vec![5, 5, 1]));
    assert_eq!(told(limiter.check(&bob()).await), (true, vec![4, 4, 0]));
}

async fn a_refund_after_the_window_changes_nothing<St: TestStore>() {
    for rule in each_algorithm(Quota::per_minute(10)) {
        let (store, clock) = St::fresh();
        let limiter = Limiter::new("api", rule, store);
        let receipt = decided(limiter.check_n(&alice(), 5).await).take_receipt().unwrap();
        clock.advance(125 * SECOND);
        assert_eq!(told(limiter.check_n(&alice(), 4).await), (true, vec![6]), "{rule:?}");
        assert_eq!(told(limiter.refund(receipt).await), (true, vec![6]), "{rule:?}");
        assert_eq!(told(limiter.peek(&alice()).await), (true, vec![6]), "{rule:?}");
    }
}

async fn there_is_one_receipt_and_only_of_what_was_charged<St: TestStore>() {
    let (store, _) = St::fresh();
    let limiter = Limiter::new("api", one(), store).tier("day", FixedWindow::new(Quota::per_day(9)));
    assert!(decided(limiter.peek(&alice()).await).take_receipt().is_none());
    let mut decision = decided(limiter.check(&alice()).await);
    assert!(decision.clone().take_receipt().is_none());
    let receipt = decision.take_receipt().unwrap();
    assert!(decision.take_receipt().is_none());
    let costs = receipt.costs().map(|(limit, cost)| (limit.name(), cost));
    assert_eq!(costs.collect::<Vec<_>>(), [("api", 1), ("day", 1)]);
    assert!(decided(limiter.check(&alice()).await).take_receipt().is_none());
}

async fn a_settle_corrects_what_was_charged<St: TestStore>() {
    // Of ten a minute, for which three are charged: what it turns out to cost, and what is left then.
    for (cost, left) in [(0, 10), (1, 9), (3, 7), (8, 2), (10, 0), (15, 0)] {
        let (store, clock) = St::fresh();
        let limiter = Limiter::new("api", TokenBucket::new(Quota::per_minute(10)), store);
        let receipt = decided(limiter.check_n(&alice(), 3).await).take_receipt().unwrap();
        assert_eq!(
            told(limiter.settle(receipt.settled(cost)).await),
            (true, vec![left]),
            "{cost}"
        );
        // What it cost too much is paid for by those who come next: six seconds each.
        clock.advance(30 * SECOND);
        let expected = (15 - cost).min(10);
        assert_eq!(told(limiter.peek(&alice()).await), (true, vec![expected]), "{cost}");
    }
}

async fn a_settle_by_name_corrects_one_tier<St: TestStore>() {
    let (store, _) = St::fresh();
    let limiter = Limiter::new("calls", FixedWindow::new(Quota::per_minute(10)), store)
        .tier("tokens", TokenBucket::new(Quota::per_minute(1000)));
    let receipt = decided(limiter.check(&alice()).await).take_receipt().unwrap();
    let settled = limiter.settle(receipt.settled_for("tokens", 250)).await;
    assert_eq!(told(settled), (true, vec![9, 750]));
}

async fn a_reset_forgets_one_key<St: TestStore>() {
    for rule in each_algorithm(Quota::per_minute(10)) {
        let (store, _) = St::fresh();
        let limiter = Limiter::new("api", rule, store);
        for user in [alice(), bob()] {
            assert_eq!(told(limiter.check_n(&user, 10).await), (true, vec![0]), "{rule:?}");
            assert_eq!(told(limiter.check(&user).await), (false, vec![0]), "{rule:?}");
        }
        assert_eq!(told(limiter.reset(&alice()).await), (true, vec![10]), "{rule:?}");
        assert_eq!(told(limiter.check(&alice()).await), (true, vec![9]), "{rule:?}");
        assert_eq!(told(limiter.check(&bob()).await), (false, vec![0]), "{rule:?}");
        // There may be nothing to forget.
        assert_eq!(told(limiter.reset(&Key::GLOBAL).await), (true, vec![10]), "{rule:?}");
    }
}

async fn a_reset_leaves_what_everybody_shares<St: TestStore>() {
    let (store, _) = St::fresh();
    let limiter = Limiter::new("minute", FixedWindow::new(Quota::per_minute(5)), store)
        .tier("queue", LeakyBucket::new(Quota::per_minute(5)))
        .shared_tier("all", FixedWindow::new(Quota::per_minute(20)));
    assert_eq!(told(limiter.check_n(&alice(), 5).await), (true, vec![0, 0, 15]));
    assert_eq!(told(limiter.reset(&alice()).await), (true, vec![5, 5]));
    assert_eq!(told(limiter.peek(&alice()).await), (true, vec![5, 5, 15]));
    // Not even when it is asked about the key under which everybody is counted.
    assert_eq!(told(limiter.reset(&Key::GLOBAL).await), (true, vec![5, 5]));
    assert_eq!(told(limiter.peek(&alice()).await), (true, vec![5, 5, 15]));
}
