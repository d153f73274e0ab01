//! Overtaking in wait queues: properties on random traffic, a microsecond at a time.

use std::{pin::Pin, task::Poll, time::Duration};

use proptest::{collection::vec, prelude::*};
use tollgate::{
    Algorithm, AnyAlgorithm, CallKey, Cost, Decision, Key, Limiter, ManualClock, MemoryStore, Micros, Quota, State,
    Tier,
};

use support::{
    algorithms::each_algorithm,
    property::{cases, config},
};

use crate::service::poll;

/// The file of inputs that have failed before.
const FAILURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/service/regressions.txt");

const START: Micros = 1_700_000_000_000_000;

/// A call that waits, after `gap` microseconds without one.
#[derive(Clone, Copy, Debug)]
struct Call {
    gap: Micros,
    cost: Cost,
    max_wait: Micros,
}

/// The end of a call: when it was admitted or denied.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ended {
    admitted: bool,
    at: Micros,
}

type Pending = Pin<Box<dyn Future<Output = Decision>>>;

#[derive(Clone, Debug)]
struct Traffic {
    algorithm: AnyAlgorithm,
    calls: Vec<Call>,
    /// Whether the tasks of later calls run first.
    reversed: bool,
}

impl Traffic {
    /// The arrival and the deadline of each call.
    fn times(&self) -> Vec<(Micros, Micros)> {
        let mut now = START;
        let times = self.calls.iter().map(|call| {
            now += call.gap;
            (now, now + call.max_wait)
        });
        times.collect()
    }

    /// Runs the first `count` calls.
    fn run(&self, count: usize) -> Vec<Ended> {
        let clock = ManualClock::at(START);
        let store = MemoryStore::builder().clock(clock.clone()).build();
        let limiter = Limiter::new(Tier::new("api", self.algorithm, CallKey), store);
        let arrivals: Vec<Micros> = self.times().iter().map(|(arrival, _)| *arrival).take(count).collect();
        let mut ended = vec![None; count];
        let mut pending: Vec<Option<Pending>> = (0..count).map(|_| None).collect();
        while ended.iter().any(Option::is_none) {
            let now = clock.now();
            for (index, call) in self.calls[..count]
                .iter()
                .enumerate()
                .filter(|(index, _)| arrivals[*index] == now)
            {
                let (limiter, cost, max_wait) = (limiter.clone(), u64::from(call.cost), call.max_wait);
                pending[index] = Some(Box::pin(async move {
                    let waited = limiter
                        .wait_n(&Key::GLOBAL, cost, Duration::from_micros(max_wait))
                        .await;
                    let Ok(decision) = waited;
                    decision
                }));
                // Arrivals are in order, whichever task runs first later.
                step(&mut pending, &mut ended, index, now);
            }
            // A call that ends or moves up may wake the others.
            for _ in 0..2 * count {
                for index in 0..count {
                    let index = if self.reversed { count - 1 - index } else { index };
                    step(&mut pending, &mut ended, index, now);
                }
            }
            loop {
                let sleeps = clock.pending_sleeps();
                clock.advance(Duration::from_micros(1));
                if clock.pending_sleeps() < sleeps || arrivals.contains(&clock.now()) || sleeps == 0 {
                    break;
                }
            }
        }
        ended.into_iter().flatten().collect()
    }

    /// The state after these calls were admitted, which must be possible.
    fn state_after(&self, ended: impl Iterator<Item = (Cost, Ended)>) -> State {
        let mut admitted: Vec<_> = ended.filter(|(_, ended)| ended.admitted).collect();
        admitted.sort_by_key(|(_, ended)| ended.at);
        let mut state = State::Fresh;
        for (cost, ended) in admitted {
            assert!(self.algorithm.peek(&state, ended.at, cost).outcome().admits());
            self.algorithm.commit(&mut state, ended.at, cost);
        }
        state
    }
}

/// Polls a call, and records when it was decided.
fn step(pending: &mut [Option<Pending>], ended: &mut [Option<Ended>], index: usize, now: Micros) {
    let Some(call) = &mut pending[index] else { return };
    if let Poll::Ready(decision) = poll(call.as_mut()) {
        let admitted = decision.admits();
        // A call in a leaky bucket returns later than it was admitted.
        let at = if admitted { decision.now() } else { now };
        ended[index] = Some(Ended { admitted, at });
        pending[index] = None;
    }
}

fn any_traffic() -> impl Strategy<Value = Traffic> {
    let quota =
        (1..=12_u32, 1..=5_u64).prop_map(|(limit, dozens)| Quota::new(limit, Duration::from_micros(12 * dozens)));
    (quota, 0..7_usize, any::<bool>()).prop_flat_map(|(quota, kind, reversed)| {
        let algorithm = each_algorithm(quota)[kind];
        let cost = prop_oneof![2 => Just(1), 3 => 1..=algorithm.capacity()];
        let max_wait = prop_oneof![1 => Just(0), 4 => 0..40_u64, 4 => 40..200_u64];
        let call = (0..15_u64, cost, max_wait).prop_map(|(gap, cost, max_wait)| Call { gap, cost, max_wait });
        vec(call, 2..9).prop_map(move |calls| Traffic {
            algorithm,
            calls,
            reversed,
        })
    })
}

proptest! {
    #![proptest_config(config(cases() / 4, FAILURES))]

    /// A call that is admitted if none arrives after it is also admitted, before its deadline, if some overtake it.
    #[test]
    fn no_head_misses_its_deadline_because_it_is_overtaken(traffic in any_traffic()) {
        let ended = traffic.run(traffic.calls.len());
        for (index, (_, deadline)) in traffic.times().into_iter().enumerate() {
            if traffic.run(index + 1)[index].admitted {
                prop_assert!(ended[index].admitted && ended[index].at <= deadline, "call {index}: {ended:?}");
            }
        }
    }

    /// Of all calls together, none is admitted before the limit admits it.
    #[test]
    fn every_admitted_call_could_be_admitted(traffic in any_traffic()) {
        let ended = traffic.run(traffic.calls.len());
        traffic.state_after(traffic.calls.iter().map(|call| call.cost).zip(ended));
    }

    /// Only a cheaper call overtakes.
    #[test]
    fn calls_that_cost_no_less_keep_the_order_of_arrival(traffic in any_traffic()) {
        let (calls, ended) = (&traffic.calls, traffic.run(traffic.calls.len()));
        for (later, end) in ended.iter().enumerate().filter(|(_, end)| end.admitted) {
            for earlier in (0..later).filter(|earlier| calls[*earlier].cost <= calls[later].cost) {
                prop_assert!(ended[earlier].at <= end.at, "call {later} overtakes {earlier}: {ended:?}");
            }
        }
    }

    /// A call that finds one call waiting is admitted at once if the limit admits it, and the other after it in time.
    #[test]
    fn a_call_overtakes_a_head_exactly_if_both_can_be_admitted(traffic in any_traffic()) {
        let (calls, times, ended) = (&traffic.calls, traffic.times(), traffic.run(traffic.calls.len()));
        for (index, (now, _)) in times.iter().enumerate() {
            let others = || (0..calls.len()).filter(|other| *other != index);
            let waiting: Vec<usize> = others().filter(|other| times[*other].0 < *now && ended[*other].at > *now).collect();
            // Without another event in this microsecond, in which the order would matter.
            let is_alone = others().all(|other| times[other].0 != *now && ended[other].at != *now);
            let ([head], true) = (&waiting[..], is_alone) else { continue };
            let before = others().filter(|other| ended[*other].at < *now);
            let mut state = traffic.state_after(before.map(|other| (calls[other].cost, ended[other])));
            let mut can_overtake = traffic.algorithm.peek(&state, *now, calls[index].cost).outcome().admits();
            if can_overtake {
                traffic.algorithm.commit(&mut state, *now, calls[index].cost);
                let wait = traffic.algorithm.peek(&state, *now, calls[*head].cost).retry_after();
                can_overtake = wait.is_none_or(|wait| now + wait.as_micros() as Micros <= times[*head].1);
            }
            let overtakes = ended[index] == Ended { admitted: true, at: *now };
            prop_assert_eq!(overtakes, can_overtake, "call {}: {:?}", index, ended);
        }
    }
}
