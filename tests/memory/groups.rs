//! Groups of charges in the memory store: shadows, receipts, and settled surplus.

use std::time::Duration;

use tollgate::{FixedWindow, Key, Limit, Operation, Quota};

use support::{
    algorithms::each_algorithm,
    memory::{TEN, acquire, apply, charge, costs, receipt, remaining, store},
};

#[test]
fn a_shadow_neither_denies_nor_delays() {
    let open = charge("open", FixedWindow::new(Quota::per_minute(10)));
    let full = charge("full", FixedWindow::new(Quota::per_minute(10)));
    for algorithm in each_algorithm(TEN) {
        let (store, _) = store(1000);
        let shadow = charge("shadow", algorithm).shadow();
        acquire(&store, [full.clone().with_cost(10), shadow.clone().with_cost(4)]);
        // The shadow's cost, the other charges, whether the group is admitted, the shadow's outcome, what remains of `open` and
        // `shadow`, and how many tiers are charged.
        let cases = [
            (1, vec![&open], true, "admitted", [9, 5], 2),
            (6, vec![&open], true, "limited", [8, 5], 1),
            (11, vec![&open], true, "impossible", [7, 5], 1),
            (1, vec![&open, &full], false, "admitted", [7, 5], 0),
            (6, vec![], true, "limited", [7, 5], 0),
        ];
        for (cost, others, admits, outcome, left, charged) in cases {
            let others = others.into_iter().cloned();
            let mut decision = acquire(&store, others.chain([shadow.clone().with_cost(cost)]));
            assert_eq!((decision.admits(), decision.delay()), (admits, Duration::ZERO));
            assert_eq!(decision.tiers().last().unwrap().verdict().outcome().name(), outcome);
            assert_eq!([&open, &shadow].map(|charge| remaining(&store, charge)), left);
            let receipt = decision.take_receipt();
            assert_eq!(receipt.map_or(0, |receipt| receipt.costs().count()), charged);
        }
    }
}

#[test]
fn a_receipt_is_taken_once() {
    for algorithm in each_algorithm(TEN) {
        let (store, _) = store(1000);
        let mut decision = acquire(&store, [charge("ten", algorithm).with_cost(4)]);
        assert!(decision.without_receipt().take_receipt().is_none());
        let receipt = decision.take_receipt().unwrap();
        assert_eq!(costs(&receipt), [4]);
        assert!(decision.take_receipt().is_none());
        assert!(
            acquire(&store, [charge("ten", algorithm).with_cost(0)])
                .take_receipt()
                .is_none()
        );
        assert!(
            acquire(&store, [charge("ten", algorithm).with_cost(7)])
                .take_receipt()
                .is_none()
        );
        assert!(
            acquire(&store, [charge("ten", algorithm).with_cost(11)])
                .take_receipt()
                .is_none()
        );
        assert!(
            apply(&store, Operation::Settle(receipt.settled(3)))
                .take_receipt()
                .is_none()
        );
        assert_eq!(remaining(&store, &charge("ten", algorithm)), 7, "{algorithm:?}");
    }
}

#[test]
fn a_settled_surplus_is_bounded_by_twice_the_limit() {
    let (bucket, window) = ("120000000 6000000 600000000", "600000000 20");
    let log = ["600000000"; 20].join(" ");
    let states = [bucket, bucket, bucket, window, window, &log, "60 20"];
    for (algorithm, state) in each_algorithm(TEN).into_iter().zip(states) {
        let (store, _) = store(1000);
        let ten = charge("ten", algorithm);
        let [first, second, third] = [1, 2, 3].map(|cost| receipt(&store, ten.clone().with_cost(cost)));
        apply(&store, Operation::Settle(first.settled(1)));
        assert_eq!(remaining(&store, &ten), 4, "{algorithm:?}");
        apply(&store, Operation::Settle(second.settled(5)));
        assert_eq!(remaining(&store, &ten), 1, "{algorithm:?}");
        apply(&store, Operation::Settle(third.settled(u64::MAX)));
        let kept = store.state(&Limit::new("ten", algorithm), &Key::GLOBAL).unwrap();
        assert_eq!(kept.to_string(), state, "{algorithm:?}");
        assert_eq!((store.len(), remaining(&store, &ten)), (1, 0), "{algorithm:?}");
        assert!(!acquire(&store, [ten]).admits());
    }
}
