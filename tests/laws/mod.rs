//! Laws that hold for every algorithm, checked on random limits and traffic: for the pure functions and the memory store here,
//! for servers in `servers`.

#[cfg(feature = "redis")]
mod effective_window;
#[cfg(feature = "redis")]
mod servers;
mod tiers;

use std::time::Duration;

use proptest::{collection::vec, prelude::*};
use support::{
    property::{cases, config},
    strategies::{Elapse, Size, any_algorithm, any_elapse, any_queue, any_size, clamp},
};
use tiers::Tiers;
use tollgate::{Algorithm, AnyAlgorithm, Cost, Micros, Outcome, Quota, SlidingCounter, State, Verdict};

use crate::fuzz_seeds::assert_within_bound;

const START: Micros = 1_700_000_000_000_000;

/// The file of inputs that have failed before.
const FAILURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/laws/regressions.txt");

type Steps = Vec<(Elapse, Size)>;

fn any_steps() -> impl Strategy<Value = Steps> {
    vec((any_elapse(), any_size()), 1..40)
}

fn micros(duration: Duration) -> Micros {
    duration.as_micros() as Micros
}

/// Runs traffic through the pure functions, and calls `inspect` before each commit.
fn replay(algorithm: &AnyAlgorithm, steps: &Steps, mut inspect: impl FnMut(&State, Micros, Cost, Verdict)) {
    let (mut state, mut now) = (State::Fresh, START);
    for (elapse, size) in steps {
        now = elapse.after(now, algorithm);
        let cost = size.of(algorithm);
        let verdict = algorithm.peek(&state, now, cost);
        inspect(&state, now, cost, verdict);
        if verdict.outcome().admits() && cost > 0 {
            algorithm.commit(&mut state, now, cost);
        }
    }
}

/// The admitted requests of this traffic, with time and cost.
fn admitted(algorithm: &AnyAlgorithm, steps: &Steps) -> Vec<(Micros, u64)> {
    let mut admitted = Vec::new();
    replay(algorithm, steps, |_, now, cost, verdict| {
        if verdict.outcome().admits() {
            admitted.push((now, cost.into()));
        }
    });
    admitted
}

proptest! {
    #![proptest_config(config(cases(), FAILURES))]

    /// A denied group changes no tier, and every tier reports its remaining units correctly.
    #[test]
    fn a_denial_changes_nothing_and_an_admission_charges_every_tier(
        algorithms in vec(any_algorithm(), 1..5),
        steps in vec((any_elapse(), vec(any_size(), 5)), 1..20),
    ) {
        let tiers = Tiers::new(&algorithms);
        for (elapse, sizes) in &steps {
            let now = elapse.after(tiers.clock.now(), &algorithms[0]);
            tiers.clock.set(now);
            let costs: Vec<Cost> = algorithms.iter().zip(sizes).map(|(algorithm, size)| size.of(algorithm)).collect();
            let before = tiers.states();
            let alone = |tier: usize, cost| {
                let fresh = State::Fresh;
                algorithms[tier].peek(before[tier].as_ref().unwrap_or(&fresh), now, cost)
            };
            let decision = tiers.acquire(&costs);
            let verdicts: Vec<Verdict> = decision.tiers().iter().map(|tier| tier.verdict()).collect();
            let all = (0..algorithms.len()).all(|tier| alone(tier, costs[tier]).outcome().admits());
            prop_assert_eq!(decision.admits(), all);
            for tier in 0..algorithms.len() {
                let single = alone(tier, costs[tier]);
                let expected = if all || !single.outcome().admits() { single } else { alone(tier, 0) };
                prop_assert_eq!(verdicts[tier], expected);
            }
            if !all {
                prop_assert_eq!(tiers.states(), before);
                prop_assert!(decision.without_receipt().take_receipt().is_none());
            } else {
                for (tier, before) in before.into_iter().enumerate() {
                    let mut expected = before;
                    if costs[tier] > 0 {
                        algorithms[tier].commit(expected.get_or_insert_default(), now, costs[tier]);
                    }
                    prop_assert_eq!(&tiers.states()[tier], &expected);
                }
            }
        }
    }

    /// Expired state is decided and charged like no state.
    #[test]
    fn expired_state_is_equivalent_to_none(algorithm in any_algorithm(), steps in any_steps(), later in any_elapse(), size in any_size()) {
        replay(&algorithm, &steps, |state, _, _, _| {
            let now = algorithm.expires_at(state) + later.of(&algorithm);
            let cost = size.of(&algorithm);
            assert_eq!(algorithm.peek(state, now, cost), algorithm.peek(&State::Fresh, now, cost));
            if cost > 0 && cost <= algorithm.capacity() && *state != State::Fresh {
                let (mut expired, mut fresh) = (state.clone(), State::Fresh);
                algorithm.commit(&mut expired, now, cost);
                algorithm.commit(&mut fresh, now, cost);
                assert_eq!(expired, fresh);
            }
        });
    }

    /// A request is denied one microsecond before `retry_after` has elapsed, and admitted after it.
    #[test]
    fn retry_after_is_tight(algorithm in any_algorithm(), steps in any_steps()) {
        replay(&algorithm, &steps, |state, now, cost, verdict| match verdict.outcome() {
            Outcome::Limited { retry_after } => {
                let retry_after = micros(retry_after);
                assert!(retry_after > 0);
                assert!(algorithm.peek(state, now + retry_after, cost).outcome().admits());
                assert_eq!(algorithm.peek(state, now + retry_after - 1, cost).outcome().name(), "limited");
            }
            Outcome::Impossible => assert!(cost > algorithm.capacity()),
            _ => assert!(cost <= algorithm.capacity()),
        });
    }

    /// A denial denies every higher cost, for at least as long: the denial cache of the Redis store relies on it.
    #[test]
    fn a_denial_denies_every_higher_cost(algorithm in any_algorithm(), steps in any_steps(), more in any_size()) {
        replay(&algorithm, &steps, |state, now, cost, verdict| {
            if let Outcome::Limited { retry_after } = verdict.outcome() {
                let higher = cost.saturating_add(more.of(&algorithm));
                match algorithm.peek(state, now, higher).outcome() {
                    Outcome::Limited { retry_after: of_higher } => assert!(of_higher >= retry_after),
                    outcome => assert_eq!(outcome, Outcome::Impossible),
                }
            }
        });
    }

    /// The full capacity is available after `reset_after`.
    #[test]
    fn the_full_capacity_is_available_after_reset_after(algorithm in any_algorithm(), steps in any_steps()) {
        replay(&algorithm, &steps, |state, now, _, _| {
            let then = now + micros(algorithm.peek(state, now, 0).reset_after());
            let all = algorithm.peek(state, then, algorithm.capacity());
            assert_eq!(all.outcome(), Outcome::Admitted { delay: Duration::ZERO });
            assert_eq!(algorithm.peek(state, then, 0).remaining(), u64::from(algorithm.capacity()));
            assert_eq!(micros(algorithm.peek(state, then, 0).reset_after()), 0);
        });
    }

    /// A time before the latest one in the state is clamped to it.
    #[test]
    fn a_clock_that_goes_back_grants_nothing(algorithm in any_algorithm(), steps in any_steps(), back in any_elapse(), size in any_size()) {
        replay(&algorithm, &steps, |state, _, _, _| {
            let (latest, cost) = (clamp(&algorithm, state), size.of(&algorithm));
            let earlier = latest.saturating_sub(back.of(&algorithm));
            if *state != State::Fresh {
                let verdict = algorithm.peek(state, earlier, cost);
                assert_eq!(verdict, algorithm.peek(state, latest, cost));
                if cost > 0 && verdict.outcome().admits() {
                    let (mut one, mut other) = (state.clone(), state.clone());
                    assert_eq!(algorithm.commit(&mut one, earlier, cost), algorithm.commit(&mut other, latest, cost));
                    assert_eq!(one, other);
                }
            }
        });
    }

    /// No time span contains more admissions than the algorithm's bound.
    #[test]
    fn admissions_stay_within_their_bound(algorithm in any_algorithm(), steps in any_steps()) {
        assert_within_bound(&algorithm, &admitted(&algorithm, &steps));
    }

    /// In a span one sub-window shorter than its window, a sliding counter admits at most its limit.
    #[test]
    fn a_counter_holds_its_limit_in_all_sub_windows_but_one(limit in 1..20_u32, sub_windows in 2..=8_u32, width in 1..1_000_000_u64, steps in any_steps()) {
        let quota = Quota::new(limit, Duration::from_micros(width * u64::from(sub_windows)));
        let admitted = admitted(&SlidingCounter::new(quota).sub_windows(sub_windows).to_any(), &steps);
        for (first, &(from, _)) in admitted.iter().enumerate() {
            let inside = admitted[first..].iter().take_while(|&&(at, _)| at - from < width * u64::from(sub_windows - 1));
            prop_assert!(inside.map(|&(_, cost)| cost).sum::<u64>() <= limit.into());
        }
    }

    /// A queueing leaky bucket releases each request when all before it have drained since the queue was last empty.
    #[test]
    fn a_queue_releases_requests_at_exactly_its_rate(queue in any_queue(), steps in any_steps()) {
        let (limit, window) = (u128::from(queue.quota().unwrap().limit()), u128::from(micros(queue.quota().unwrap().window())));
        let (mut begun, mut before) = (START, 0);
        replay(&queue, &steps, |_, now, cost, verdict| {
            if cost == 0 || !verdict.outcome().admits() {
                return;
            }
            let drained = begun + (before * window).div_ceil(limit) as Micros;
            assert_eq!(now + micros(verdict.delay()), drained.max(now));
            if drained <= now {
                (begun, before) = (now, 0);
            }
            before += u128::from(cost);
        });
    }
}
