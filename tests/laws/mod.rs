//! The laws that every algorithm keeps, on random limits and random traffic: of the pure functions and the memory store
//! here, of servers in `servers`.

#[cfg(feature = "redis")]
mod servers;
mod tiers;

use std::time::Duration;

use proptest::{collection::vec, prelude::*};
use support::{
    property::{cases, config},
    traces::{Elapse, Size, any_elapse, any_queue, any_rule, any_size, clamp},
};
use tiers::Tiers;
use tollgate::{Algorithm, Cost, Micros, Outcome, Quota, Rule, SlidingCounter, State, Verdict};

const START: Micros = 1_700_000_000_000_000;

/// Where inputs are kept that have failed once.
const FAILURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/laws/regressions.txt");

type Steps = Vec<(Elapse, Size)>;

fn any_steps() -> impl Strategy<Value = Steps> {
    vec((any_elapse(), any_size()), 1..40)
}

fn micros(duration: Duration) -> Micros {
    duration.as_micros() as Micros
}

/// Runs traffic through the pure functions and shows every moment before it is decided.
fn replay(rule: &Rule, steps: &Steps, mut look: impl FnMut(&State, Micros, Cost, Verdict)) {
    let (mut state, mut now) = (State::Fresh, START);
    for (elapse, size) in steps {
        now = elapse.after(now, rule);
        let cost = size.of(rule);
        let verdict = rule.peek(&state, now, cost);
        look(&state, now, cost, verdict);
        if verdict.outcome().admits() && cost > 0 {
            rule.commit(&mut state, now, cost);
        }
    }
}

/// What is admitted of this traffic, when and at which cost.
fn admitted(rule: &Rule, steps: &Steps) -> Vec<(Micros, u64)> {
    let mut admitted = Vec::new();
    replay(rule, steps, |_, now, cost, verdict| {
        if verdict.outcome().admits() {
            admitted.push((now, cost.into()));
        }
    });
    admitted
}

/// No span of these admissions, wherever it begins, holds more than the algorithm's bound.
fn stay_within_the_bound(rule: &Rule, admitted: &[(Micros, u64)]) {
    let (limit, window) = (
        u128::from(rule.quota().limit()),
        u128::from(micros(rule.quota().window())),
    );
    for (first, &(from, _)) in admitted.iter().enumerate() {
        let mut sum = 0;
        for &(at, cost) in &admitted[first..] {
            let span = u128::from(at - from);
            sum += u128::from(cost);
            let bound = match rule {
                Rule::TokenBucket(_) | Rule::LeakyBucket(_) => u128::from(rule.capacity()) + span * limit / window,
                _ if span >= window => break,
                Rule::SlidingLog(_) => limit,
                _ => 2 * limit,
            };
            assert!(sum <= bound, "{sum} admitted in {span} us, {bound} allowed");
        }
    }
}

proptest! {
    #![proptest_config(config(cases(), FAILURES))]

    /// Law 1, and law 7: a refused group changes no tier, and every tier still says truthfully what it has left.
    #[test]
    fn a_refusal_changes_nothing_and_an_admission_charges_every_tier(
        rules in vec(any_rule(), 1..5),
        steps in vec((any_elapse(), vec(any_size(), 5)), 1..20),
    ) {
        let tiers = Tiers::new(&rules);
        for (elapse, sizes) in &steps {
            let now = elapse.after(tiers.clock.now(), &rules[0]);
            tiers.clock.set(now);
            let costs: Vec<Cost> = rules.iter().zip(sizes).map(|(rule, size)| size.of(rule)).collect();
            let before = tiers.states();
            let alone = |tier: usize, cost| {
                let fresh = State::Fresh;
                rules[tier].peek(before[tier].as_ref().unwrap_or(&fresh), now, cost)
            };
            let decision = tiers.acquire(&costs);
            let verdicts: Vec<Verdict> = decision.tiers().iter().map(|tier| tier.verdict()).collect();
            let all = (0..rules.len()).all(|tier| alone(tier, costs[tier]).outcome().admits());
            prop_assert_eq!(decision.admits(), all);
            for tier in 0..rules.len() {
                let asked = alone(tier, costs[tier]);
                let told = if all || !asked.outcome().admits() { asked } else { alone(tier, 0) };
                prop_assert_eq!(verdicts[tier], told);
            }
            if !all {
                prop_assert_eq!(tiers.states(), before);
                prop_assert!(decision.clone().take_receipt().is_none());
            } else {
                for (tier, before) in before.into_iter().enumerate() {
                    let mut expected = before;
                    if costs[tier] > 0 {
                        rules[tier].commit(expected.get_or_insert_default(), now, costs[tier]);
                    }
                    prop_assert_eq!(&tiers.states()[tier], &expected);
                }
            }
        }
    }

    /// Law 2: state that has lapsed answers, and is charged, like no state at all.
    #[test]
    fn lapsed_state_is_as_good_as_none(rule in any_rule(), steps in any_steps(), later in any_elapse(), size in any_size()) {
        replay(&rule, &steps, |state, _, _, _| {
            let now = rule.expires_at(state) + later.of(&rule);
            let cost = size.of(&rule);
            assert_eq!(rule.peek(state, now, cost), rule.peek(&State::Fresh, now, cost));
            if cost > 0 && cost <= rule.capacity() && *state != State::Fresh {
                let (mut lapsed, mut fresh) = (state.clone(), State::Fresh);
                rule.commit(&mut lapsed, now, cost);
                rule.commit(&mut fresh, now, cost);
                assert_eq!(lapsed, fresh);
            }
        });
    }

    /// Law 3: refused one microsecond before the promised time, admitted at it.
    #[test]
    fn retry_after_is_tight(rule in any_rule(), steps in any_steps()) {
        replay(&rule, &steps, |state, now, cost, verdict| match verdict.outcome() {
            Outcome::Limited { retry_after } => {
                assert!(retry_after > 0);
                assert!(rule.peek(state, now + retry_after, cost).outcome().admits());
                assert_eq!(rule.peek(state, now + retry_after - 1, cost).outcome().name(), "limited");
            }
            Outcome::Impossible => assert!(cost > rule.capacity()),
            _ => assert!(cost <= rule.capacity()),
        });
    }

    /// Law 3: everything is available again after `reset_after`.
    #[test]
    fn reset_after_brings_everything_back(rule in any_rule(), steps in any_steps()) {
        replay(&rule, &steps, |state, now, _, _| {
            let then = now + micros(rule.peek(state, now, 0).reset_after());
            let all = rule.peek(state, then, rule.capacity());
            assert_eq!(all.outcome(), Outcome::Admitted { delay: 0 });
            assert_eq!(rule.peek(state, then, 0).remaining(), u64::from(rule.capacity()));
            assert_eq!(micros(rule.peek(state, then, 0).reset_after()), 0);
        });
    }

    /// Law 4: at an earlier time than the state has seen, it answers and is charged as at the latest it has seen.
    #[test]
    fn a_clock_that_goes_back_grants_nothing(rule in any_rule(), steps in any_steps(), back in any_elapse(), size in any_size()) {
        replay(&rule, &steps, |state, _, _, _| {
            let (latest, cost) = (clamp(&rule, state), size.of(&rule));
            let earlier = latest.saturating_sub(back.of(&rule));
            if *state != State::Fresh {
                let verdict = rule.peek(state, earlier, cost);
                assert_eq!(verdict, rule.peek(state, latest, cost));
                if cost > 0 && verdict.outcome().admits() {
                    let (mut one, mut other) = (state.clone(), state.clone());
                    assert_eq!(rule.commit(&mut one, earlier, cost), rule.commit(&mut other, latest, cost));
                    assert_eq!(one, other);
                }
            }
        });
    }

    /// Law 5: no window, wherever it begins, sees more admissions than the algorithm's bound.
    #[test]
    fn admissions_stay_within_the_bound(rule in any_rule(), steps in any_steps()) {
        stay_within_the_bound(&rule, &admitted(&rule, &steps));
    }

    /// Law 5, closer: in a stretch that is a sub-window shorter than its window, a counter admits no more than its limit.
    #[test]
    fn a_counter_holds_its_limit_in_all_sub_windows_but_one(limit in 1..20_u32, buckets in 2..=8_u32, width in 1..1_000_000_u64, steps in any_steps()) {
        let quota = Quota::new(limit, Duration::from_micros(width * u64::from(buckets)));
        let admitted = admitted(&SlidingCounter::new(quota).buckets(buckets).rule(), &steps);
        for (first, &(from, _)) in admitted.iter().enumerate() {
            let inside = admitted[first..].iter().take_while(|&&(at, _)| at - from < width * u64::from(buckets - 1));
            prop_assert!(inside.map(|&(_, cost)| cost).sum::<u64>() <= limit.into());
        }
    }

    /// A queue's requests leave at exactly its rate: each when all before it have drained, since the queue was last empty.
    #[test]
    fn a_queue_lets_requests_leave_at_exactly_its_rate(queue in any_queue(), steps in any_steps()) {
        let (limit, window) = (u128::from(queue.quota().limit()), u128::from(micros(queue.quota().window())));
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
