//! Replays a trace on several stores, and asserts that their decisions are equal.

use tollgate::{Charge, Charges, Decision, Key, Limit, MAX_TIMESTAMP, Micros, Operation, Receipt};

use support::stores::AnyStore;

use crate::parity::trace::{Action, Steps, Tier};

/// The start times of traces.
const STARTS: [Micros; 4] = [1_700_000_000_000_000, 0, 3, MAX_TIMESTAMP - 5_000_000_000];

/// Inspects the stores after an operation. Returns the latest expiry time that has passed: the clock may not go back before it.
pub(crate) type Inspect<'a> = &'a mut dyn FnMut(&Replay<'_>, &Decision) -> Micros;

pub(crate) struct Replay<'a> {
    stores: &'a [AnyStore],
    tiers: &'a [Tier],
    pub(crate) key: Key,
    /// The current version of each tier.
    pub(crate) limits: Vec<Limit>,
    /// Per operation, a receipt per store.
    receipts: Vec<Vec<Option<Receipt>>>,
    now: Micros,
    pub(crate) latest: Micros,
    expired: Micros,
}

impl<'a> Replay<'a> {
    pub(crate) fn new(stores: &'a [AnyStore], tiers: &'a [Tier], case: u64) -> Self {
        Self::with_key(stores, tiers, case, Key::new(format!("case:{case}")))
    }

    pub(crate) fn with_key(stores: &'a [AnyStore], tiers: &'a [Tier], case: u64, key: Key) -> Self {
        let start = STARTS[case as usize % STARTS.len()];
        let mut replay = Self {
            stores,
            tiers,
            key,
            limits: Vec::new(),
            receipts: Vec::new(),
            now: start,
            latest: start,
            expired: 0,
        };
        replay.change(0);
        replay
    }

    pub(crate) async fn run(&mut self, steps: &Steps, inspect: Inspect<'_>) {
        for (elapse, action) in steps {
            self.now = elapse.after(self.now, &self.tiers[0].versions[0]);
            self.latest = self.latest.max(self.now);
            if let Some(decision) = self.act(action).await {
                self.expired = self.expired.max(inspect(self, &decision));
            }
        }
    }

    async fn act(&mut self, action: &Action) -> Option<Decision> {
        let operations = match action {
            Action::Acquire(costs) => {
                let charges = self.charges(costs);
                let peeked = self.peek(&charges).await;
                let decision = self.apply(self.each(|| Operation::Acquire(charges.clone()))).await;
                // A server's own clock has advanced since the peek.
                if decision.now() == self.now {
                    assert_eq!(comparable(&decision), peeked);
                }
                return Some(decision);
            }
            Action::Refund(which, latest) => self
                .receipts(*which, *latest)?
                .into_iter()
                .map(Operation::Refund)
                .collect(),
            Action::Settle(which, to, latest) => {
                let [first, others] = to.map(|to| to.of(self.limits[0].algorithm()));
                let settled = |receipt: Receipt| receipt.settled(others.into()).settled_for("tier0", first.into());
                let receipts = self.receipts(*which, *latest)?.into_iter();
                receipts.map(|receipt| Operation::Settle(settled(receipt))).collect()
            }
            Action::Reset(tier) => {
                let charge = self.charge(tier % self.tiers.len());
                self.each(|| Operation::Reset(charge.clone().into()))
            }
            Action::Change(version) => {
                self.change(*version);
                return None;
            }
            Action::Back(by) => {
                self.now = self
                    .now
                    .saturating_sub(by.of(&self.tiers[0].versions[0]))
                    .max(self.expired);
                return None;
            }
        };
        Some(self.apply(operations).await)
    }

    /// Peeks in every store, and compares the decisions.
    async fn peek(&self, charges: &Charges) -> String {
        let mut decisions = Vec::new();
        for store in self.stores {
            let mut decision = store.apply(self.now, Operation::Peek(charges.clone())).await;
            assert!(decision.take_receipt().is_none());
            decisions.push(comparable(&decision));
        }
        decisions.windows(2).for_each(|pair| assert_eq!(pair[0], pair[1]));
        decisions.swap_remove(0)
    }

    /// Applies the operation to every store and compares the decisions.
    async fn apply(&mut self, operations: Vec<Operation>) -> Decision {
        let mut decisions = Vec::new();
        for (store, operation) in self.stores.iter().zip(operations) {
            decisions.push(store.apply(self.now, operation).await);
        }
        self.receipts
            .push(decisions.iter_mut().map(Decision::take_receipt).collect());
        decisions
            .windows(2)
            .for_each(|pair| assert_eq!(comparable(&pair[0]), comparable(&pair[1])));
        decisions.swap_remove(0)
    }

    fn each(&self, operation: impl Fn() -> Operation) -> Vec<Operation> {
        self.stores.iter().map(|_| operation()).collect()
    }

    fn charge(&self, tier: usize) -> Charge {
        Charge::new(self.limits[tier].clone(), self.key.clone())
    }

    fn charges(&self, costs: &[(bool, support::strategies::Size)]) -> Charges {
        let mut charges = Charges::new();
        for (tier, (is_charged, size)) in costs.iter().take(self.tiers.len()).enumerate() {
            let charge = self.charge(tier).with_cost(size.of(self.limits[tier].algorithm()));
            if *is_charged {
                charges
                    .push(if self.tiers[tier].shadow {
                        charge.shadow()
                    } else {
                        charge
                    })
                    .unwrap();
            }
        }
        charges
    }

    fn change(&mut self, version: usize) {
        let algorithms = self
            .tiers
            .iter()
            .map(|tier| tier.versions[version % tier.versions.len()]);
        self.limits = algorithms
            .enumerate()
            .map(|(index, algorithm)| Limit::new(&format!("tier{index}"), algorithm))
            .collect();
    }

    /// The receipts of one operation, one per store, if it has any and they are unused.
    fn receipts(&mut self, which: usize, latest: bool) -> Option<Vec<Receipt>> {
        let index = which.checked_rem(self.receipts.len())?;
        let mut receipts = std::mem::take(&mut self.receipts[index])
            .into_iter()
            .collect::<Option<Vec<Receipt>>>()?;
        for receipt in receipts.iter_mut().filter(|_| latest) {
            self.limits.iter().for_each(|limit| receipt.update(limit));
        }
        (!receipts.is_empty()).then_some(receipts)
    }
}

/// All of a decision but its receipt, which is compared by its refund.
fn comparable(decision: &Decision) -> String {
    let tiers: Vec<_> = decision
        .tiers()
        .iter()
        .map(|tier| (tier.limit().to_string(), tier.verdict()))
        .collect();
    format!("{} {:?} {tiers:?}", decision.now(), decision.outcome())
}
