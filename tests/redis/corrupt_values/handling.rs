//! A corrupt value counts as no state, is replaced by the next charge, and is logged.

use std::time::Duration;

use tollgate::redis::Value;
use tollgate::{Algorithm, Operation, Quota, SlidingLog};

use super::tiers::{Tiers, for_each_corruption, query, run};
use support::{log, redis::RedisServer};

#[tokio::test]
async fn a_corrupt_value_counts_as_no_state_and_is_replaced_by_the_next_charge() {
    for_each_corruption("charge", async |redis, corrupt, clean, _| {
        assert_eq!(corrupt.acquire([1, 3, 1]).await, clean.acquire([1, 3, 1]).await);
        assert_eq!(corrupt.take_warnings(), [corrupt.victim()]);
        assert_eq!(corrupt.stored(redis), clean.stored(redis));

        assert_eq!(corrupt.acquire([1, 3, 1]).await, clean.acquire([1, 3, 1]).await);
        assert_eq!(corrupt.take_warnings(), [""; 0]);
        assert_eq!(corrupt.stored(redis), clean.stored(redis));
    })
    .await;
}

#[tokio::test]
async fn a_corrupt_value_stays_if_nothing_is_charged() {
    for_each_corruption("peek", async |redis, corrupt, clean, _| {
        let before: Vec<u8> = query(redis, "DUMP KEY", &corrupt.victim());
        for costs in [[0, 0, 0], [0, 11, 0], [1, 10, 10], [9, 1, 1]] {
            assert_eq!(corrupt.acquire(costs).await, clean.acquire(costs).await, "{costs:?}");
            assert_eq!(corrupt.take_warnings(), [corrupt.victim()], "{costs:?}");
            assert_eq!(
                query::<Vec<u8>>(redis, "DUMP KEY", &corrupt.victim()),
                before,
                "{costs:?}"
            );
            assert_eq!(query::<i64>(redis, "PTTL KEY", &corrupt.victim()), -1, "{costs:?}");
        }
        query::<()>(redis, "DEL KEY", &corrupt.victim());
        assert_eq!(corrupt.stored(redis), clean.stored(redis));
    })
    .await;
}

#[tokio::test]
async fn a_refund_keeps_a_corrupt_value_and_a_reset_deletes_it() {
    for_each_corruption("refund", async |redis, corrupt, clean, command| {
        let charge = || corrupt.charge(1, 2).into();
        let receipt = corrupt.apply(Operation::Acquire(charge())).await.take_receipt();
        query::<()>(redis, "DEL KEY", &corrupt.victim());
        run::<Value>(redis, command, &corrupt.victim());
        let before: Vec<u8> = query(redis, "DUMP KEY", &corrupt.victim());

        corrupt.take_warnings();
        let refund = corrupt.apply(Operation::Refund(receipt.unwrap())).await;
        assert_eq!(refund.tiers()[0].verdict().remaining(), 10);
        assert_eq!(corrupt.take_warnings(), [corrupt.victim()]);
        assert_eq!(query::<Vec<u8>>(redis, "DUMP KEY", &corrupt.victim()), before);

        let reset = corrupt.apply(Operation::Reset(charge())).await;
        assert_eq!(reset.tiers()[0].verdict().remaining(), 10);
        assert_eq!(corrupt.stored(redis), clean.stored(redis));
    })
    .await;
}

#[tokio::test]
async fn a_corrupt_entry_in_the_middle_of_a_log_is_detected_when_it_is_read() {
    log::listen();
    let server = RedisServer::start();
    let redis = &mut server.client();
    let algorithm = SlidingLog::new(Quota::new(4, Duration::from_micros(10))).to_any();
    let corrupt = Tiers::new(&server, "middle.corrupt", algorithm);
    let clean = Tiers::new(&server, "middle.clean", algorithm);
    for (entries, cost) in [
        // All entries before it have expired.
        ("1 2 garbage 15 16", 1),
        ("1 2 garbage 15 16", 4),
        // The entry determines `retry_after`.
        ("14 15 garbage 16", 3),
        ("14 15 16 0x10 17", 3),
        // It is out of order: already expired, or later than the newest.
        ("15 1 2 16", 3),
        ("14 500 15 16", 2),
    ] {
        query::<()>(redis, "FLUSHALL", "");
        query::<()>(redis, &format!("RPUSH KEY {entries}"), &corrupt.victim());
        assert_eq!(
            corrupt.acquire([1, cost, 1]).await,
            clean.acquire([1, cost, 1]).await,
            "{entries}"
        );
        assert_eq!(corrupt.take_warnings(), [corrupt.victim()], "{entries}");
        assert_eq!(corrupt.stored(redis), clean.stored(redis), "{entries}");
    }
}
