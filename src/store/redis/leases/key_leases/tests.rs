//! What a node holds of one key, step by step.

use std::time::Duration;

use super::*;
use crate::{
    algorithm::{Algorithm, AnyAlgorithm, FixedWindow, SlidingCounter, State},
    quota::Quota,
    verdict::{RawOutcome, Remaining},
};

const TIME: Micros = 100_000;
const AT: Micros = 1_700_000_000_000_000;
/// Less the allowance for drift.
const END: Micros = 99_000;
/// When the first answer is received, by the clock of the node.
const START: Micros = 7_000_000;

/// A key with 10,000 per second, of which 100 were requested, and a lease that was asked for and charged.
struct Leased {
    leases: KeyLeases,
    mark: Mark,
}

fn after_requests(algorithm: impl Algorithm) -> (KeyLeases, AnyAlgorithm, Answer, Mark) {
    let limit = Limit::new("key", algorithm).lease(Duration::from_micros(TIME));
    let (algorithm, mut state) = (*limit.algorithm(), State::Fresh);
    let (verdict, mark) = algorithm.acquire(&mut state, AT, 100);
    let answer = Answer {
        verdict,
        now: AT,
        received: START,
    };
    let mut leases = KeyLeases::new(&limit, TIME, answer);
    leases.decided(100, answer);
    (leases, algorithm, answer, mark.expect("it was admitted"))
}

fn leased(algorithm: impl Algorithm) -> Leased {
    let (mut leases, _, answer, mark) = after_requests(algorithm);
    let units = leases.ask(START).expect("it is asked for");
    assert_eq!(units, 88);
    assert_eq!(leases.granted(units, mark, START, answer), None);
    Leased { leases, mark }
}

fn counter() -> SlidingCounter {
    SlidingCounter::new(Quota::per_second(10_000))
}

#[test]
fn of_concurrent_requests_one_asks() {
    let (mut leases, _, _, _) = after_requests(counter());
    assert!(leases.ask(START).is_some());
    assert_eq!(leases.ask(START), None);
}

#[test]
fn units_are_spent_until_the_time_from_the_call_is_over() {
    let Leased { mut leases, mark } = leased(counter());
    let last = START + END - 1;
    assert_eq!(leases.take(88, last).map(|spent| spent.mark), Some(mark));
    assert_eq!(leases.put_back(mark, 88, last).map(|spent| spent.mark), Ok(mark));
    assert_eq!(leases.take(1, START + END), None);
    // They are not returned to the lease that has ended, but to Redis.
    assert_eq!(leases.put_back(mark, 2, START + END), Err(Returned { units: 2, mark }));
}

#[test]
fn a_lease_ends_with_its_window() {
    let (mut leases, algorithm, answer, _) = after_requests(FixedWindow::new(Quota::per_second(10_000)));
    let units = leases.ask(START).expect("it is asked for");
    // 50 ms before the end of the window.
    let late = AT + 950_000;
    let (_, mark) = algorithm.acquire(&mut State::Fresh, late, units);
    assert_eq!(
        leases.granted(units, mark.expect("it was admitted"), START, answer),
        None
    );
    let end = START + 49_500;
    assert!(leases.take(1, end - 1).is_some());
    assert_eq!(leases.take(1, end), None);
}

#[test]
fn a_late_lease_is_returned_whole() {
    let (mut leases, _, answer, mark) = after_requests(counter());
    let units = leases.ask(START).expect("it is asked for");
    let received = START + END;
    let late = leases.granted(units, mark, START, Answer { received, ..answer });
    assert_eq!(late, Some(Returned { units, mark }));
    assert_eq!(leases.take(1, received), None);
}

#[test]
fn after_a_lost_reply_the_key_is_not_leased_for_the_lease_time() {
    let (mut leases, _, answer, _) = after_requests(counter());
    assert!(leases.ask(START).is_some());
    leases.lost(START);
    let before = START + TIME - 1;
    assert_eq!(leases.ask(before), None);
    leases.decided(
        100,
        Answer {
            received: before,
            ..answer
        },
    );
    assert!(leases.ask(START + TIME).is_some());
}

#[test]
fn a_renewal_is_asked_for_when_a_quarter_is_left() {
    let Leased { mut leases, .. } = leased(counter());
    assert_eq!(leases.ask(START), None);
    assert!(leases.take(50, START).is_some());
    assert_eq!(leases.ask(START), None);
    // 100 + 51 were requested, and 37 of 88 units are left: a quarter of the demand.
    assert!(leases.take(1, START).is_some());
    assert!(leases.ask(START).is_some());
}

#[test]
fn idle_units_are_returned_in_the_middle() {
    let Leased { mut leases, mark } = leased(counter());
    let middle = START + END / 2;
    assert_eq!(leases.next_return(), Some(middle));
    assert!(leases.take(5, START).is_some());
    // As many are kept as were spent.
    assert_eq!(leases.returned(middle).as_slice(), [Returned { units: 78, mark }]);
    assert_eq!(leases.returned(START + END).as_slice(), [Returned { units: 5, mark }]);
    assert_eq!(leases.next_return(), None);
}

/// Denied traffic leases nothing: what is put back was not spent.
#[test]
fn what_is_put_back_is_no_demand() {
    let Leased { mut leases, mark } = leased(counter());
    for _ in 0..1000 {
        let spent = leases.take(1, START).expect("there are units");
        assert!(leases.put_back(spent.mark, 1, START).is_ok());
    }
    assert_eq!(leases.ask(START), None);
    assert_eq!(leases.returned(START + END).as_slice(), [Returned { units: 88, mark }]);
}

/// Close to the limit, Redis decides about every request.
#[test]
fn a_lease_is_an_eighth_of_what_remains_at_most() {
    for (limit, units) in [
        (100, None),
        (115, None),
        (116, Some(2)),
        (180, Some(10)),
        (10_000, Some(88)),
    ] {
        let (mut leases, _, _, _) = after_requests(SlidingCounter::new(Quota::per_second(limit)));
        assert_eq!(leases.ask(START), units, "{limit}");
    }
}

/// The bucket has refilled since the units were charged.
#[test]
fn no_more_remains_than_the_capacity() {
    let (mut leases, algorithm, answer, mark) = after_requests(counter());
    let units = leases.ask(START).expect("it is asked for");
    let verdict = algorithm.peek(&State::Fresh, AT, 0);
    assert_eq!(leases.granted(units, mark, START, Answer { verdict, ..answer }), None);
    let spent = leases.take(1, START).expect("there are units");
    assert_eq!(spent.verdict.remaining(), 10_000);
}

/// The last unit in hand is spent after Redis has denied a request.
#[test]
fn if_nothing_remains_it_is_known_when_something_will() {
    let Leased { mut leases, .. } = leased(counter());
    let outcome = RawOutcome::Limited { retry_after: 500 };
    let verdict = Verdict {
        outcome,
        remaining: Remaining::new(0, outcome, || 0),
        reset_after: 1000,
    };
    leases.decided(
        0,
        Answer {
            verdict,
            now: AT,
            received: START,
        },
    );
    let spent = leases.take(88, START + 100).expect("there are units");
    assert_eq!(spent.verdict.remaining.available_after(), 400);
}
