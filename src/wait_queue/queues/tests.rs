//! Tests of `queues`.

use super::*;
use crate::{
    algorithm::TokenBucket,
    quota::Quota,
    verdict::{RawOutcome, Remaining, Verdict},
};

fn charges(user: &str) -> Charges {
    let limit = Limit::new("user", TokenBucket::new(Quota::per_second(1)));
    Charge::new(limit, Key::named("user", user)).into()
}

fn join(queues: &Arc<WaitQueues>, user: &str, deadline: Micros) -> Option<QueueSlot> {
    queues.join(&key(user), &charges(user), deadline)
}

fn key(user: &str) -> QueueKey {
    QueueKey::of(&charges(user).as_slice()[0])
}

#[test]
fn a_queue_exists_while_requests_wait() {
    let queues = Arc::new(WaitQueues::new(2));
    assert!(queues.existing_queue(&charges("ann")).is_none());
    let first = join(&queues, "ann", 0).unwrap();
    let second = join(&queues, "ann", 0).unwrap();
    assert!(first.is_first() && !second.is_first());
    assert!(join(&queues, "ann", 0).is_none());
    assert!(join(&queues, "bob", 0).is_some_and(|slot| slot.is_first()));
    drop(first);
    assert_eq!(queues.existing_queue(&charges("ann")), Some(key("ann")));
    // A new request joins behind the second.
    assert!(join(&queues, "ann", 0).is_some_and(|slot| !slot.is_first()));
    drop(second);
    assert!(queues.existing_queue(&charges("ann")).is_none());
    assert!(queues.lock().is_empty());
}

#[test]
fn a_request_whose_deadline_is_before_the_heads_retry_is_denied_at_once() {
    let queues = Arc::new(WaitQueues::new(2));
    let head = join(&queues, "ann", 0).unwrap();
    let (retry_after, charge) = (1_000, charges("ann").into_one().unwrap());
    let verdict = limited(retry_after, 5_000);
    head.publish(
        &Decision::of_one(7_000_000, TierDecision::new(charge, verdict)),
        50,
        2_000,
    );
    assert!(join(&queues, "ann", 1_049).is_none());
    assert!(join(&queues, "ann", 1_050).is_some());
    let denial = queues.own_denial(&key("ann"), &charges("ann"), 450).unwrap();
    assert_eq!(
        (denial.now(), denial.retry_after().unwrap().as_micros()),
        (7_000_400, 600)
    );
    assert!(queues.own_denial(&key("ann"), &charges("bob"), 450).is_none());
    assert!(queues.head_denial(&key("ann"), &charges("bob"), 450).is_none());
}

fn limited(retry_after: Micros, reset_after: Micros) -> Verdict {
    let outcome = RawOutcome::Limited { retry_after };
    Verdict {
        outcome,
        remaining: Remaining::new(0, outcome, || 0),
        reset_after,
    }
}

/// A denial of `cost` for a second, published at 0 by a head with a deadline of ten seconds.
fn publish_denial(head: &QueueSlot, charges: Charges) {
    let retry_after = 1_000_000;
    let verdict = limited(retry_after, retry_after);
    let tiers = charges.into_each().map(|charge| TierDecision::new(charge, verdict));
    head.publish(&Decision::new(0, tiers.collect()), 0, 10_000_000);
}

#[test]
fn a_request_overtakes_only_before_the_heads_turn_and_with_a_lower_cost() {
    let queues = Arc::new(WaitQueues::new(9));
    let cost = |cost| charges("ann").with_cost(cost);
    let (head, next) = (join(&queues, "ann", 0).unwrap(), join(&queues, "ann", 0).unwrap());
    let overtakes_at = |charges: &Charges, denied_until, now| {
        let target = next.head_to_overtake(charges, denied_until, now, 5_000_000);
        target.map(|(at, head)| (at, head.deadline))
    };
    assert_eq!(overtakes_at(&cost(1), 0, 0), None);
    publish_denial(&head, cost(2));
    for (own_cost, denied_until, now, expected) in [
        (1, 0, 0, Some(0)),
        (1, 0, 999_999, Some(999_999)),
        (1, 0, 1_000_000, None),
        (1, 999_999, 7, Some(999_999)),
        (1, 1_000_000, 7, None),
        (2, 0, 0, None),
    ] {
        let expected = expected.map(|at| (at, 10_000_000));
        assert_eq!(overtakes_at(&cost(own_cost), denied_until, now), expected);
    }
    // A request under a changed limit keeps the order of arrival.
    let raised = Limit::new("user", TokenBucket::new(Quota::per_second(2)));
    let raised = Charge::new(raised, Key::named("user", "ann")).with_cost(2);
    assert_eq!(overtakes_at(&raised.into(), 0, 0), None);
}

#[test]
fn a_request_overtakes_no_head_that_has_left() {
    let queues = Arc::new(WaitQueues::new(9));
    let (head, next) = (join(&queues, "ann", 0).unwrap(), join(&queues, "ann", 0).unwrap());
    let permit = head.turns.head.try_acquire().unwrap();
    let permit = HeadPermit {
        slot: &head,
        _permit: permit,
    };
    publish_denial(&head, charges("ann").with_cost(2));
    assert!(next.head_to_overtake(&charges("ann"), 0, 0, 0).is_some());
    drop(permit);
    assert!(next.head_to_overtake(&charges("ann"), 0, 0, 0).is_none());
}

#[test]
fn a_request_with_another_queue_does_not_overtake() {
    let queues = Arc::new(WaitQueues::new(9));
    let both = Charges::from_distinct(["ann", "bob"].into_iter().flat_map(|user| charges(user).into_each()));
    let (head, next) = (join(&queues, "ann", 0).unwrap(), join(&queues, "ann", 0).unwrap());
    publish_denial(&head, charges("ann").with_cost(2));
    assert!(next.head_to_overtake(&both, 0, 0, 0).is_some());
    let other = join(&queues, "bob", 0).unwrap();
    assert!(next.head_to_overtake(&both, 0, 0, 0).is_none());
    drop(other);
    assert!(next.head_to_overtake(&both, 0, 0, 0).is_some());
}

#[test]
fn a_request_joins_if_those_before_it_may_leave_before_its_deadline() {
    let queues = Arc::new(WaitQueues::new(9));
    let (head, next) = (join(&queues, "ann", 0).unwrap(), join(&queues, "ann", 0).unwrap());
    publish_denial(&head, charges("ann").with_cost(2));
    for (denied_until, leaves_at) in [(0, 0), (700_000, 700_000), (Micros::MAX, 800_000)] {
        drop(next.head_to_overtake(&charges("ann"), denied_until, 0, 800_000));
        assert!(leaves_at == 0 || join(&queues, "ann", leaves_at - 1).is_none());
        assert!(join(&queues, "ann", leaves_at).is_some());
        // A request that costs as much as the head has to wait for it.
        assert!(
            queues
                .join(&key("ann"), &charges("ann").with_cost(2), 999_999)
                .is_none()
        );
    }
}
