//! Decides about requests at their times, and releases the slots of concurrency limits at theirs.

use std::{collections::BTreeMap, time::Duration};

use tollgate::{AnyAlgorithm, Charge, Charges, Decision, Limit, Micros, Operation, Receipt, RuleSet};

use super::store::SimulationStore;
use crate::common::{
    output::{self, Failure},
    store::StoreConfig,
};

/// A slot is held for less than a day. In Redis, a slot that is not renewed expires after a day at most, and a simulation renews nothing.
pub(super) const MAX_HELD: Duration = Duration::from_secs(24 * 60 * 60);

/// [`MAX_HELD`] in microseconds.
const DAY: Micros = MAX_HELD.as_micros() as Micros;

pub(crate) struct Replay {
    store: SimulationStore,
    /// The time of the last operation.
    now: Micros,
    /// The requests that hold slots, by the time of their release and then by their number.
    holding: BTreeMap<(Micros, u64), Receipt>,
    /// The number of requests that a concurrency limit was charged for.
    holders: u64,
    /// Whether one of them was held for any time.
    has_held: bool,
}

impl Replay {
    pub(crate) fn new(store: &StoreConfig) -> Result<Self, Failure> {
        Ok(Self {
            store: SimulationStore::new(store)?,
            now: 0,
            holding: BTreeMap::new(),
            holders: 0,
            has_held: false,
        })
    }

    /// Decides as of the given time. An admitted request holds its slots for a duration, after its delay.
    pub(crate) fn decide(&mut self, at: Micros, charges: Charges, duration: Micros) -> Result<Decision, Failure> {
        self.release_before(at)?;
        if !charges.iter().any(is_concurrency) {
            return self.apply(at, Operation::Acquire(charges));
        }
        let mut decision = self.apply(at, Operation::Acquire(without_expiry(&charges)))?;
        if let Some(receipt) = decision.take_receipt() {
            self.holders += 1;
            let held = duration.saturating_add(decision.delay().as_micros() as Micros);
            match held.min(DAY - 1) {
                // Released even if the next request is earlier.
                0 => self.release(at, receipt)?,
                held => {
                    self.has_held = true;
                    self.holding.insert((at + held, self.holders), receipt);
                }
            }
        }
        Ok(decision)
    }

    /// Warns once if concurrency limits could deny nothing, because no request was held. `option` sets for how long.
    pub(crate) fn warn_if_nothing_was_held(&self, rules: &RuleSet, option: &str) {
        if self.holders == 0 || self.has_held {
            return;
        }
        let limits = rules.limits();
        let limits = limits.iter().filter(|limit| is_concurrency_limit(limit));
        let names: Vec<_> = limits.map(|limit| format!("{:?}", limit.name())).collect();
        let which = match &names[..] {
            [name] => format!("the limit {name} never denies"),
            _ => format!("the limits {} never deny", names.join(", ")),
        };
        output::warning(&format!(
            "{which}: every request ends at once. Set how long requests take with {option}"
        ));
    }

    /// Releases what is due before a request, or at its time.
    fn release_before(&mut self, at: Micros) -> Result<(), Failure> {
        while let Some(first) = self.holding.first_entry()
            && first.key().0 <= at
        {
            let ((due, _), receipt) = first.remove_entry();
            self.release(due, receipt)?;
        }
        // After a step of the time backwards. Otherwise slots would be held for longer than a day.
        while let Some(last) = self.holding.last_entry()
            && last.key().0 - at >= DAY
        {
            let receipt = last.remove();
            self.release(self.now, receipt)?;
        }
        Ok(())
    }

    /// Settles to what was charged: this releases slots, and changes no other limit.
    fn release(&mut self, at: Micros, receipt: Receipt) -> Result<(), Failure> {
        self.apply(at, Operation::Settle(receipt)).map(drop)
    }

    fn apply(&mut self, at: Micros, operation: Operation) -> Result<Decision, Failure> {
        self.now = at;
        self.store.apply(at, operation)
    }
}

fn is_concurrency(charge: &Charge) -> bool {
    is_concurrency_limit(charge.limit())
}

fn is_concurrency_limit(limit: &Limit) -> bool {
    matches!(limit.algorithm(), AnyAlgorithm::Concurrency(_))
}

/// The charges, with concurrency limits whose slots do not expire before they are released.
fn without_expiry(charges: &Charges) -> Charges {
    let mut lasting = Charges::new();
    for charge in charges {
        let pushed = lasting.push(match charge.limit().algorithm() {
            AnyAlgorithm::Concurrency(concurrency) => {
                let limit = Limit::new(charge.limit().name(), concurrency.time_to_live(MAX_HELD));
                let lasting = Charge::new(limit, charge.key().clone()).with_cost(charge.cost());
                match charge.is_shadow() {
                    true => lasting.shadow(),
                    false => lasting,
                }
            }
            _ => charge.clone(),
        });
        pushed.expect("the same keys under the same limits are distinct");
    }
    lasting
}
