//! Applies an operation to the states of its charges: peeks all, and commits all only if all are admitted.

use crate::{
    algorithm::{Algorithm, AnyAlgorithm, Mark, State},
    charge::{Charge, Charges},
    decision::{Decision, TierDecision, TierDecisions},
    operation::Operation,
    quota::Cost,
    receipt::Receipt,
    time::{MAX_TIMESTAMP, Micros},
    verdict::Verdict,
};

impl Operation {
    /// Applies it to the states of its [charges](Self::charges), which are in the same order, and returns the decision: all the
    /// arithmetic of a [store](crate::Store).
    ///
    /// A store of your own loads the state of each charge, calls this, and stores the new states, in one transaction. Peeks change no
    /// state, and neither does an acquire that is denied. A store whose transaction fails because of another one loads the states again,
    /// and calls this again.
    ///
    /// ```
    /// use tollgate::{Charge, Charges, Key, Limit, Operation, Quota, State, TokenBucket};
    ///
    /// let limit = |name| Limit::new(name, TokenBucket::new(Quota::per_minute(10)));
    /// let mut charges = Charges::from(Charge::new(limit("requests"), Key::GLOBAL));
    /// charges.push(Charge::new(limit("pages"), Key::GLOBAL).with_cost(4))?;
    ///
    /// let mut states = [State::Fresh, State::Fresh]; // as loaded, or fresh if there is none
    /// let decision = Operation::Acquire(charges).apply_to(&mut states, 0);
    /// assert_eq!(decision.tiers()[1].verdict().remaining(), 6);
    /// assert_eq!(decision.tiers()[0].limit().algorithm().parse_state(&states[0].to_string()).as_ref(), Some(&states[0]));
    /// # Ok::<(), tollgate::DuplicateKey>(())
    /// ```
    ///
    /// # Panics
    /// If the number of states differs from that of the charges.
    pub fn apply_to(&self, states: &mut [State], now: Micros) -> Decision {
        assert_eq!(
            states.len(),
            self.charges().count(),
            "an operation has one state per charge"
        );
        apply(states, self.copy(), now.min(MAX_TIMESTAMP))
    }
}

/// The states of an operation's charges, by the index of the charge.
pub(crate) trait TierStates {
    /// The verdict about a charge of this cost.
    fn peek(&mut self, tier: usize, charge: &Charge, now: Micros, cost: Cost) -> Verdict;

    /// Applies a charge that a peek has admitted.
    fn commit(&mut self, tier: usize, charge: &Charge, now: Micros) -> Mark;

    /// Changes the state of a charge, and removes the state if that makes it expire.
    fn update(&mut self, tier: usize, charge: &Charge, now: Micros, change: impl FnOnce(&AnyAlgorithm, &mut State));

    fn remove(&mut self, tier: usize, charge: &Charge);
}

pub(crate) fn apply(states: &mut (impl TierStates + ?Sized), operation: Operation, now: Micros) -> Decision {
    match operation {
        Operation::Acquire(charges) => acquire(states, charges, now),
        Operation::Peek(charges) => Decision::new(now, evaluate(states, charges, now).0),
        Operation::Refund(receipt) => settle(states, receipt.settled(0), now),
        Operation::Settle(receipt) => settle(states, receipt, now),
        Operation::Reset(charges) => reset(states, charges, now),
    }
}

fn acquire(states: &mut (impl TierStates + ?Sized), charges: Charges, now: Micros) -> Decision {
    let (mut tiers, admitted) = evaluate(states, charges, now);
    for (index, TierDecision { charge, verdict, mark }) in tiers.iter_mut().enumerate() {
        if admitted && verdict.outcome.admits() && charge.cost > 0 {
            *mark = Some(states.commit(index, charge, now));
        }
    }
    Decision::new(now, tiers)
}

/// The verdict of each tier about a group, and whether the group is admitted. In a denied group, a tier that would admit reports its
/// current state.
fn evaluate(states: &mut (impl TierStates + ?Sized), charges: Charges, now: Micros) -> (TierDecisions, bool) {
    let mut tiers = tiers(states, charges.into_each(), now, |charge| charge.cost);
    let admitted = tiers.iter().all(TierDecision::passes);
    for (index, TierDecision { charge, verdict, .. }) in tiers.iter_mut().enumerate() {
        if !admitted && verdict.outcome.admits() {
            *verdict = states.peek(index, charge, now, 0);
        }
    }
    (tiers, admitted)
}

fn settle(states: &mut (impl TierStates + ?Sized), receipt: Receipt, now: Micros) -> Decision {
    for (index, charged) in receipt.charged().iter().enumerate() {
        let (charge, to) = (&charged.charge, charged.to());
        states.update(index, charge, now, |algorithm, state| {
            algorithm.settle(state, now, charged.mark, charge.cost, to);
        });
    }
    peek_all(states, receipt.into_charges(), now)
}

fn reset(states: &mut (impl TierStates + ?Sized), charges: Charges, now: Micros) -> Decision {
    for (index, charge) in charges.as_slice().iter().enumerate() {
        states.remove(index, charge);
    }
    peek_all(states, charges.into_each(), now)
}

/// The verdict of each tier about a cost of 0.
fn peek_all(states: &mut (impl TierStates + ?Sized), charges: impl Iterator<Item = Charge>, now: Micros) -> Decision {
    Decision::new(now, tiers(states, charges, now, |_| 0))
}

fn tiers(
    states: &mut (impl TierStates + ?Sized),
    charges: impl Iterator<Item = Charge>,
    now: Micros,
    cost: impl Fn(&Charge) -> Cost,
) -> TierDecisions {
    let mut tiers = TierDecisions::with_capacity(charges.size_hint().0);
    for (index, charge) in charges.enumerate() {
        let verdict = states.peek(index, &charge, now, cost(&charge));
        tiers.push(TierDecision::new(charge, verdict));
    }
    tiers
}

/// States that a store has loaded.
impl TierStates for [State] {
    fn peek(&mut self, tier: usize, charge: &Charge, now: Micros, cost: Cost) -> Verdict {
        charge.limit.algorithm().peek(&self[tier], now, cost)
    }

    fn commit(&mut self, tier: usize, charge: &Charge, now: Micros) -> Mark {
        charge.limit.algorithm().commit(&mut self[tier], now, charge.cost)
    }

    fn update(&mut self, tier: usize, charge: &Charge, now: Micros, change: impl FnOnce(&AnyAlgorithm, &mut State)) {
        let (algorithm, state) = (charge.limit.algorithm(), &mut self[tier]);
        let before = algorithm.expires_at(state);
        change(algorithm, state);
        let expires_at = algorithm.expires_at(state);
        if expires_at <= now && expires_at != before {
            *state = State::Fresh;
        }
    }

    fn remove(&mut self, tier: usize, _: &Charge) {
        self[tier] = State::Fresh;
    }
}
