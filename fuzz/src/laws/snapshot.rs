//! The laws of a single state at a given time.

use std::time::Duration;

use tollgate::{Algorithm, AnyAlgorithm, Cost, Micros, Outcome, State};

use super::input::window;

fn micros(duration: Duration) -> Micros {
    duration.as_micros() as Micros
}

/// An algorithm, its state, and a request.
#[derive(Clone, Copy)]
pub(super) struct Snapshot<'s> {
    pub(super) algorithm: &'s AnyAlgorithm,
    pub(super) state: &'s State,
    pub(super) now: Micros,
    pub(super) cost: Cost,
}

impl Snapshot<'_> {
    pub(super) fn check(self) {
        self.retry_after_is_tight();
        self.state_resets_fully();
        self.expired_is_fresh();
        self.a_clock_going_back_grants_nothing();
    }

    /// A denied request is denied one microsecond before `retry_after`, and admitted at it.
    fn retry_after_is_tight(self) {
        let Self {
            algorithm,
            state,
            now,
            cost,
        } = self;
        let verdict = algorithm.peek(state, now, cost);
        assert!(verdict.remaining() <= algorithm.capacity().into());
        match verdict.outcome() {
            Outcome::Limited { retry_after } => {
                let retry_after = micros(retry_after);
                assert!(retry_after > 0);
                assert!(algorithm.peek(state, now + retry_after, cost).outcome().admits());
                let before = algorithm.peek(state, now + retry_after - 1, cost);
                assert_eq!(before.outcome().name(), "limited");
            }
            Outcome::Impossible => assert!(cost > algorithm.capacity()),
            _ => assert!(cost <= algorithm.capacity() && (algorithm.is_queueing() || verdict.delay().is_zero())),
        }
    }

    fn state_resets_fully(self) {
        let Self {
            algorithm, state, now, ..
        } = self;
        let then = now + micros(algorithm.peek(state, now, 0).reset_after());
        let full = algorithm.peek(state, then, algorithm.capacity());
        assert_eq!(full.outcome(), Outcome::Admitted { delay: Duration::ZERO });
        assert_eq!(
            algorithm.peek(state, then, 0).remaining(),
            u64::from(algorithm.capacity())
        );
    }

    /// An expired state decides, and is charged, like a fresh one.
    fn expired_is_fresh(self) {
        let Self {
            algorithm, state, cost, ..
        } = self;
        if *state == State::Fresh {
            return;
        }
        let expiry = algorithm.expires_at(state);
        for then in [expiry, expiry + 1, expiry + window(algorithm)] {
            assert_eq!(
                algorithm.peek(state, then, cost),
                algorithm.peek(&State::Fresh, then, cost)
            );
            if cost > 0 && cost <= algorithm.capacity() {
                let (mut one, mut other) = (state.clone(), State::Fresh);
                algorithm.commit(&mut one, then, cost);
                algorithm.commit(&mut other, then, cost);
                assert_eq!(one, other);
            }
        }
    }

    fn a_clock_going_back_grants_nothing(self) {
        let Self {
            algorithm,
            state,
            now,
            cost,
        } = self;
        let verdict = algorithm.peek(state, now, cost);
        for back in [1, window(algorithm) / 3, window(algorithm), 3 * window(algorithm)] {
            let earlier = algorithm.peek(state, now.saturating_sub(back), cost);
            let remaining = |at| algorithm.peek(state, at, 0).remaining();
            assert!(remaining(now.saturating_sub(back)) <= remaining(now));
            assert!(verdict.outcome().admits() || !earlier.outcome().admits());
        }
    }
}
