//! What a node holds of one key, step by step.

use super::*;
use crate::{
    algorithm::{Algorithm, AnyAlgorithm, FixedWindow, SlidingCounter, State},
    quota::Quota,
};

const TIME: Duration = Duration::from_millis(100);
const AT: Micros = 1_700_000_000_000_000;
/// Less the allowance for drift.
const END: Duration = Duration::from_millis(99);

/// A key with 10,000 per second, of which 100 were requested, and a lease that was asked for and charged.
struct Leased {
    start: Instant,
    leases: KeyLeases,
    mark: Mark,
}

fn after_requests(algorithm: impl Algorithm) -> (KeyLeases, AnyAlgorithm, Answer, Mark) {
    let limit = Limit::new("key", algorithm).lease(TIME);
    let (algorithm, mut state) = (*limit.algorithm(), State::Fresh);
    let (verdict, mark) = algorithm.acquire(&mut state, AT, 100);
    let received = Instant::now();
    let answer = Answer {
        verdict,
        now: AT,
        received,
    };
    let mut leases = KeyLeases::new(&limit, TIME.as_micros() as Micros, answer);
    leases.decided(100, answer);
    (leases, algorithm, answer, mark.expect("it was admitted"))
}

fn leased(algorithm: impl Algorithm) -> Leased {
    let (mut leases, _, answer, mark) = after_requests(algorithm);
    let start = answer.received;
    let units = leases.ask(start).expect("it is asked for");
    assert_eq!(units, 88);
    assert_eq!(leases.granted(units, mark, start, answer), None);
    Leased { start, leases, mark }
}

fn counter() -> SlidingCounter {
    SlidingCounter::new(Quota::per_second(10_000))
}

#[test]
fn of_concurrent_requests_one_asks() {
    let (mut leases, _, answer, _) = after_requests(counter());
    assert!(leases.ask(answer.received).is_some());
    assert_eq!(leases.ask(answer.received), None);
}

#[test]
fn units_are_spent_until_the_time_from_the_call_is_over() {
    let Leased {
        start,
        mut leases,
        mark,
    } = leased(counter());
    let last = start + END - Duration::from_nanos(1);
    assert_eq!(leases.take(88, last).map(|spent| spent.mark), Some(mark));
    assert_eq!(leases.put_back(mark, 88, last).map(|spent| spent.mark), Ok(mark));
    assert_eq!(leases.take(1, start + END), None);
    // They are not returned to the lease that has ended, but to Redis.
    assert_eq!(leases.put_back(mark, 2, start + END), Err(Returned { units: 2, mark }));
}

#[test]
fn a_lease_ends_with_its_window() {
    let (mut leases, algorithm, answer, _) = after_requests(FixedWindow::new(Quota::per_second(10_000)));
    let start = answer.received;
    let units = leases.ask(start).expect("it is asked for");
    // 50 ms before the end of the window.
    let late = AT + 950_000;
    let (_, mark) = algorithm.acquire(&mut State::Fresh, late, units);
    assert_eq!(
        leases.granted(units, mark.expect("it was admitted"), start, answer),
        None
    );
    let end = start + Duration::from_micros(49_500);
    assert!(leases.take(1, end - Duration::from_nanos(1)).is_some());
    assert_eq!(leases.take(1, end), None);
}

#[test]
fn a_late_lease_is_returned_whole() {
    let (mut leases, _, answer, mark) = after_requests(counter());
    let start = answer.received;
    let units = leases.ask(start).expect("it is asked for");
    let received = start + END;
    let late = leases.granted(units, mark, start, Answer { received, ..answer });
    assert_eq!(late, Some(Returned { units, mark }));
    assert_eq!(leases.take(1, received), None);
}

#[test]
fn after_a_lost_reply_the_key_is_not_leased_for_the_lease_time() {
    let (mut leases, _, answer, _) = after_requests(counter());
    let start = answer.received;
    assert!(leases.ask(start).is_some());
    leases.lost(start);
    let before = start + TIME - Duration::from_nanos(1);
    assert_eq!(leases.ask(before), None);
    leases.decided(
        100,
        Answer {
            received: before,
            ..answer
        },
    );
    assert!(leases.ask(start + TIME).is_some());
}

#[test]
fn a_renewal_is_asked_for_when_a_quarter_is_left() {
    let Leased { start, mut leases, .. } = leased(counter());
    assert_eq!(leases.ask(start), None);
    assert!(leases.take(50, start).is_some());
    assert_eq!(leases.ask(start), None);
    // 100 + 51 were requested, and 37 of 88 units are left: a quarter of the demand.
    assert!(leases.take(1, start).is_some());
    assert!(leases.ask(start).is_some());
}

#[test]
fn idle_units_are_returned_in_the_middle() {
    let Leased {
        start,
        mut leases,
        mark,
    } = leased(counter());
    let middle = start + END / 2;
    assert_eq!(leases.next_return(), Some(middle));
    assert!(leases.take(5, start).is_some());
    // As many are kept as were spent.
    assert_eq!(leases.returned(middle).as_slice(), [Returned { units: 78, mark }]);
    assert_eq!(leases.returned(start + END).as_slice(), [Returned { units: 5, mark }]);
    assert_eq!(leases.next_return(), None);
}

/// Denied traffic leases nothing: what is put back was not spent.
#[test]
fn what_is_put_back_is_no_demand() {
    let Leased {
        start,
        mut leases,
        mark,
    } = leased(counter());
    for _ in 0..1000 {
        let spent = leases.take(1, start).expect("there are units");
        assert!(leases.put_back(spent.mark, 1, start).is_ok());
    }
    assert_eq!(leases.ask(start), None);
    assert_eq!(leases.returned(start + END).as_slice(), [Returned { units: 88, mark }]);
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
        let (mut leases, _, answer, _) = after_requests(SlidingCounter::new(Quota::per_second(limit)));
        assert_eq!(leases.ask(answer.received), units, "{limit}");
    }
}
