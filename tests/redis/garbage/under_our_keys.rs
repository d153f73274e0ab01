//! It counts as fresh, makes way for the next charge, and is warned of.

use std::time::Duration;

use tollgate::redis::Value;
use tollgate::{Algorithm, Operation, Quota, SlidingLog};

use super::{
    tiers::{Tiers, ask, each, run},
    warnings,
};
use support::redis::RedisServer;

#[tokio::test]
async fn garbage_counts_as_fresh_and_makes_way_for_the_next_charge() {
    each("charge", async |redis, spoilt, clean, _| {
        assert_eq!(spoilt.acquire([1, 3, 1]).await, clean.acquire([1, 3, 1]).await);
        assert_eq!(spoilt.warned_of(), [spoilt.victim()]);
        assert_eq!(spoilt.stored(redis), clean.stored(redis));

        assert_eq!(spoilt.acquire([1, 3, 1]).await, clean.acquire([1, 3, 1]).await);
        assert_eq!(spoilt.warned_of(), [""; 0]);
        assert_eq!(spoilt.stored(redis), clean.stored(redis));
    })
    .await;
}

#[tokio::test]
async fn garbage_stays_where_nothing_is_charged() {
    each("peek", async |redis, spoilt, clean, _| {
        let before: Vec<u8> = ask(redis, "DUMP KEY", &spoilt.victim());
        for costs in [[0, 0, 0], [0, 11, 0], [1, 10, 10], [9, 1, 1]] {
            assert_eq!(spoilt.acquire(costs).await, clean.acquire(costs).await, "{costs:?}");
            assert_eq!(spoilt.warned_of(), [spoilt.victim()], "{costs:?}");
            assert_eq!(ask::<Vec<u8>>(redis, "DUMP KEY", &spoilt.victim()), before, "{costs:?}");
            assert_eq!(ask::<i64>(redis, "PTTL KEY", &spoilt.victim()), -1, "{costs:?}");
        }
        ask::<()>(redis, "DEL KEY", &spoilt.victim());
        assert_eq!(spoilt.stored(redis), clean.stored(redis));
    })
    .await;
}

#[tokio::test]
async fn garbage_is_not_refunded_and_a_reset_forgets_it() {
    each("refund", async |redis, spoilt, clean, garbage| {
        let charge = || spoilt.charge(1, 2).into();
        let receipt = spoilt.apply(Operation::Acquire(charge())).await.take_receipt();
        ask::<()>(redis, "DEL KEY", &spoilt.victim());
        run::<Value>(redis, garbage, &spoilt.victim());
        let before: Vec<u8> = ask(redis, "DUMP KEY", &spoilt.victim());

        spoilt.warned_of();
        let refund = spoilt.apply(Operation::Refund(receipt.unwrap())).await;
        assert_eq!(refund.tiers()[0].verdict().remaining(), 10);
        assert_eq!(spoilt.warned_of(), [spoilt.victim()]);
        assert_eq!(ask::<Vec<u8>>(redis, "DUMP KEY", &spoilt.victim()), before);

        let reset = spoilt.apply(Operation::Reset(charge())).await;
        assert_eq!(reset.tiers()[0].verdict().remaining(), 10);
        assert_eq!(spoilt.stored(redis), clean.stored(redis));
    })
    .await;
}

#[tokio::test]
async fn garbage_in_the_middle_of_a_log_is_noticed_when_it_is_met() {
    warnings::listen();
    let server = RedisServer::start();
    let redis = &mut server.client();
    let rule = SlidingLog::new(Quota::new(4, Duration::from_micros(10))).rule();
    let spoilt = Tiers::new(&server, "middle.spoilt", rule);
    let clean = Tiers::new(&server, "middle.clean", rule);
    for (entries, cost) in [
        // All that lies before it has lapsed.
        ("1 2 garbage 15 16", 1),
        ("1 2 garbage 15 16", 4),
        // It would say how long to wait.
        ("14 15 garbage 16", 3),
        ("14 15 16 0x10 17", 3),
    ] {
        ask::<()>(redis, "FLUSHALL", "");
        ask::<()>(redis, &format!("RPUSH KEY {entries}"), &spoilt.victim());
        assert_eq!(
            spoilt.acquire([1, cost, 1]).await,
            clean.acquire([1, cost, 1]).await,
            "{entries}"
        );
        assert_eq!(spoilt.warned_of(), [spoilt.victim()], "{entries}");
        assert_eq!(spoilt.stored(redis), clean.stored(redis), "{entries}");
    }
}
