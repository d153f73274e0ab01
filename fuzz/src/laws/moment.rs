//! What holds of one state at any moment.

use tollgate::{Algorithm, Cost, Micros, Outcome, Rule, State};

use super::traffic::window;

fn micros(duration: std::time::Duration) -> Micros {
    duration.as_micros() as Micros
}

/// A limit, and what it has counted so far.
#[derive(Clone, Copy)]
pub(super) struct Moment<'m> {
    pub(super) rule: &'m Rule,
    pub(super) state: &'m State,
    pub(super) now: Micros,
    pub(super) cost: Cost,
}

impl Moment<'_> {
    pub(super) fn keeps_the_laws(self) {
        self.waits_are_tight();
        self.everything_comes_back();
        self.lapsed_is_fresh();
        self.going_back_grants_nothing();
    }

    /// Refused one microsecond before the promised time, and admitted at it.
    fn waits_are_tight(self) {
        let Self { rule, state, now, cost } = self;
        let verdict = rule.peek(state, now, cost);
        assert!(verdict.remaining() <= rule.capacity().into());
        match verdict.outcome() {
            Outcome::Limited { retry_after } => {
                assert!(retry_after > 0);
                assert!(rule.peek(state, now + retry_after, cost).outcome().admits());
                let before = rule.peek(state, now + retry_after - 1, cost);
                assert_eq!(before.outcome().name(), "limited");
            }
            Outcome::Impossible => assert!(cost > rule.capacity()),
            _ => assert!(cost <= rule.capacity() && (rule.queues() || verdict.delay().is_zero())),
        }
    }

    fn everything_comes_back(self) {
        let Self { rule, state, now, .. } = self;
        let then = now + micros(rule.peek(state, now, 0).reset_after());
        let all = rule.peek(state, then, rule.capacity());
        assert_eq!(all.outcome(), Outcome::Admitted { delay: 0 });
        assert_eq!(rule.peek(state, then, 0).remaining(), u64::from(rule.capacity()));
    }

    /// State that has lapsed answers, and is charged, like none.
    fn lapsed_is_fresh(self) {
        let Self { rule, state, cost, .. } = self;
        if *state == State::Fresh {
            return;
        }
        let lapsed = rule.expires_at(state);
        for then in [lapsed, lapsed + 1, lapsed + window(rule)] {
            assert_eq!(rule.peek(state, then, cost), rule.peek(&State::Fresh, then, cost));
            if cost > 0 && cost <= rule.capacity() {
                let (mut one, mut other) = (state.clone(), State::Fresh);
                rule.commit(&mut one, then, cost);
                rule.commit(&mut other, then, cost);
                assert_eq!(one, other);
            }
        }
    }

    fn going_back_grants_nothing(self) {
        let Self { rule, state, now, cost } = self;
        let told = rule.peek(state, now, cost);
        for back in [1, window(rule) / 3, window(rule), 3 * window(rule)] {
            let earlier = rule.peek(state, now.saturating_sub(back), cost);
            let left = |at| rule.peek(state, at, 0).remaining();
            assert!(left(now.saturating_sub(back)) <= left(now));
            assert!(told.outcome().admits() || !earlier.outcome().admits());
        }
    }
}
