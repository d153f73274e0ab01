//! Plays a trace on one store or on several, which must give the same answers.

use tollgate::{Charge, Charges, Decision, END_OF_TIME, Key, Limit, Micros, Operation, Receipt};

use support::stores::AnyStore;

use crate::parity::trace::{Action, Steps, Tier};

/// Traces begin at one of these.
const STARTS: [Micros; 4] = [1_700_000_000_000_000, 0, 3, END_OF_TIME - 5_000_000_000];

/// Looks at what an operation left behind, and tells by when state had lapsed: the clock may not go back behind that.
pub(crate) type Look<'a> = &'a mut dyn FnMut(&Play<'_>, &Decision) -> Micros;

pub(crate) struct Play<'a> {
    stores: &'a [AnyStore],
    tiers: &'a [Tier],
    pub(crate) key: Key,
    /// The tiers in the versions that are in force.
    pub(crate) limits: Vec<Limit>,
    /// Of each operation, a receipt per store.
    receipts: Vec<Vec<Option<Receipt>>>,
    now: Micros,
    pub(crate) latest: Micros,
    lapsed: Micros,
}

impl<'a> Play<'a> {
    pub(crate) fn new(stores: &'a [AnyStore], tiers: &'a [Tier], case: u64) -> Self {
        Self::with_key(stores, tiers, case, Key::new(format!("case:{case}")))
    }

    pub(crate) fn with_key(stores: &'a [AnyStore], tiers: &'a [Tier], case: u64, key: Key) -> Self {
        let start = STARTS[case as usize % STARTS.len()];
        let mut play = Self {
            stores,
            tiers,
            key,
            limits: Vec::new(),
            receipts: Vec::new(),
            now: start,
            latest: start,
            lapsed: 0,
        };
        play.change(0);
        play
    }

    pub(crate) async fn run(&mut self, steps: &Steps, look: Look<'_>) {
        for (elapse, action) in steps {
            self.now = elapse.after(self.now, &self.tiers[0].versions[0]);
            self.latest = self.latest.max(self.now);
            if let Some(decision) = self.act(action).await {
                self.lapsed = self.lapsed.max(look(self, &decision));
            }
        }
    }

    async fn act(&mut self, action: &Action) -> Option<Decision> {
        let operations = match action {
            Action::Acquire(costs) => {
                let charges = self.charges(costs);
                self.each(|| Operation::Acquire(charges.clone()))
            }
            Action::Refund(which, latest) => self
                .receipts(*which, *latest)?
                .into_iter()
                .map(Operation::Refund)
                .collect(),
            Action::Settle(which, to, latest) => {
                let [first, others] = to.map(|to| to.of(self.limits[0].rule()));
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
                    .max(self.lapsed);
                return None;
            }
        };
        Some(self.apply(operations).await)
    }

    /// Asks every store, and compares every word of the answers.
    async fn apply(&mut self, operations: Vec<Operation>) -> Decision {
        let mut decisions = Vec::new();
        for (store, operation) in self.stores.iter().zip(operations) {
            decisions.push(store.apply(self.now, operation).await);
        }
        self.receipts
            .push(decisions.iter_mut().map(Decision::take_receipt).collect());
        decisions
            .windows(2)
            .for_each(|pair| assert_eq!(words(&pair[0]), words(&pair[1])));
        decisions.swap_remove(0)
    }

    fn each(&self, operation: impl Fn() -> Operation) -> Vec<Operation> {
        self.stores.iter().map(|_| operation()).collect()
    }

    fn charge(&self, tier: usize) -> Charge {
        Charge::new(self.limits[tier].clone(), self.key.clone())
    }

    fn charges(&self, costs: &[(bool, support::traces::Size)]) -> Charges {
        let mut charges = Charges::new();
        for (tier, (taken, size)) in costs.iter().take(self.tiers.len()).enumerate() {
            let charge = self.charge(tier).cost(size.of(self.limits[tier].rule()));
            if *taken {
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
        let rules = self
            .tiers
            .iter()
            .map(|tier| tier.versions[version % tier.versions.len()]);
        self.limits = rules
            .enumerate()
            .map(|(index, rule)| Limit::new(&format!("tier{index}"), rule))
            .collect();
    }

    /// The receipts of one operation, one per store, if there are any and nobody has used them.
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

/// A decision, down to the last word. Receipts are compared by what they give back.
fn words(decision: &Decision) -> String {
    let tiers: Vec<_> = decision
        .tiers()
        .iter()
        .map(|tier| (tier.limit().to_string(), tier.verdict()))
        .collect();
    format!("{} {:?} {tiers:?}", decision.now(), decision.outcome())
}
