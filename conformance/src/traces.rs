//! Random traces, compared with the reference.

use std::time::Duration;

use fastrand::Rng;
use tollgate::{
    Algorithm, AnyAlgorithm, Charge, Charges, Decision, FixedWindow, Key, LeakyBucket, Limit, ManualClock, Operation,
    Quota, Receipt, SlidingCounter, SlidingLog, Store, TokenBucket,
};

use crate::{START, apply, model::Model};

/// The number of operations of a trace.
const STEPS: usize = 30;

/// Applies random operations to random tiers, `cases` times, and compares every decision with the pure functions. The cases are the
/// same in every run.
///
/// # Panics
/// If a decision differs.
pub async fn traces<St: Store>(fresh: &impl Fn(ManualClock) -> St, cases: u64) {
    for case in 0..cases {
        let clock = ManualClock::at(START);
        let mut trace = Trace {
            random: Rng::with_seed(case),
            store: fresh(clock.clone()),
            clock,
            model: Model::default(),
            receipts: Vec::new(),
        };
        let limits = trace.limits();
        for step in 0..STEPS {
            trace.step(&limits, &format!("case {case}, step {step}")).await;
        }
    }
}

struct Trace<St> {
    random: Rng,
    store: St,
    clock: ManualClock,
    model: Model,
    /// The receipts of the store and of the model.
    receipts: Vec<[Receipt; 2]>,
}

impl<St: Store> Trace<St> {
    /// One to four limits, some of them shadows.
    fn limits(&mut self) -> Vec<(Limit, bool)> {
        let number = self.random.usize(1..=4);
        let limit = |tier| {
            let limit = Limit::new(&format!("tier{tier}"), any_algorithm(&mut self.random));
            (limit, self.random.u8(0..7) == 0)
        };
        (0..number).map(limit).collect()
    }

    async fn step(&mut self, limits: &[(Limit, bool)], context: &str) {
        self.advance(limits);
        // A store whose tiers are on several servers may charge a denied request and refund it, which moves the end of a queue: then an
        // earlier place is no longer the last one, and cannot be refunded.
        let may_refund = !limits.iter().any(|(limit, _)| limit.algorithm().is_queueing());
        let kinds = if may_refund { 20 } else { 15 };
        let operations = match self.random.u8(0..kinds) {
            0..12 => self.on_charges(limits, Operation::Acquire),
            12..14 => self.on_charges(limits, Operation::Peek),
            14 => self.on_charges(limits, Operation::Reset),
            15..17 => self.take_receipts().map(|receipts| receipts.map(Operation::Refund)),
            _ => {
                let cost = self.random.u64(0..30);
                let settle = |receipt: Receipt| Operation::Settle(receipt.settled(cost));
                self.take_receipts().map(|receipts| receipts.map(settle))
            }
        };
        let Some([of_store, of_model]) = operations else {
            return;
        };
        let context = format!("{context}, at {}: {of_store:?}", self.clock.now());
        let expected = self.model.apply(of_model, self.clock.now());
        let decision = apply(&self.store, of_store).await;
        self.compare(decision, expected, &context);
    }

    /// Advances the clock by nothing, a little, or about a window.
    fn advance(&mut self, limits: &[(Limit, bool)]) {
        let (limit, _) = &limits[self.random.usize(..limits.len())];
        let quota = limit.algorithm().quota().expect("traces have limits with windows");
        let window = quota.window().as_micros() as u64;
        let elapsed = match self.random.u8(0..4) {
            0 => 0,
            1 => self.random.u64(0..=window / 10),
            2 => window / u64::from(quota.limit()),
            _ => self.random.u64(0..=window + window / 10),
        };
        self.clock.advance(Duration::from_micros(elapsed));
    }

    /// An operation on some of the tiers, for the store and for the model.
    fn on_charges(
        &mut self,
        limits: &[(Limit, bool)],
        operation: impl Fn(Charges) -> Operation,
    ) -> Option<[Operation; 2]> {
        let mut charges = Charges::new();
        for (limit, shadow) in limits {
            if self.random.u8(0..5) > 0 {
                let cost = self
                    .random
                    .u32(0..=limit.algorithm().capacity().saturating_add(1).min(40));
                let charge = Charge::new(limit.clone(), Key::new("key")).with_cost(cost);
                let charge = if *shadow { charge.shadow() } else { charge };
                charges.push(charge).expect("limits with different names");
            }
        }
        (!charges.is_empty()).then(|| [operation(charges.clone()), operation(charges)])
    }

    fn take_receipts(&mut self) -> Option<[Receipt; 2]> {
        let number = self.receipts.len();
        (number > 0).then(|| self.receipts.swap_remove(self.random.usize(..number)))
    }

    fn compare(&mut self, mut decision: Decision, mut expected: Decision, context: &str) {
        let verdicts = |decision: &Decision| -> Vec<_> {
            let tiers = decision.tiers().iter();
            tiers
                .map(|tier| (tier.limit().clone(), tier.key().clone(), tier.verdict()))
                .collect()
        };
        assert_eq!(decision.now(), expected.now(), "the time, {context}");
        assert_eq!(verdicts(&decision), verdicts(&expected), "{context}");
        match (decision.take_receipt(), expected.take_receipt()) {
            (Some(receipt), Some(expected)) => {
                let costs = |receipt: &Receipt| -> Vec<_> {
                    receipt.costs().map(|(limit, cost)| (limit.clone(), cost)).collect()
                };
                assert_eq!(costs(&receipt), costs(&expected), "the receipt, {context}");
                self.receipts.push([receipt, expected]);
            }
            (None, None) => {}
            (receipt, expected) => panic!("the receipt is {receipt:?} instead of {expected:?}, {context}"),
        }
    }
}

/// An algorithm with a small quota, which is exhausted after a few requests.
fn any_algorithm(random: &mut Rng) -> AnyAlgorithm {
    let windows = [
        random.u64(1..50),
        random.u64(1..2_000_000),
        1_000_000,
        60_000_000,
        86_400_000_000,
    ];
    let window = Duration::from_micros(windows[random.usize(..windows.len())]);
    let (quota, capacity) = (Quota::new(random.u32(1..12), window), random.u32(1..30));
    match random.u8(0..7) {
        0 => TokenBucket::new(quota).capacity(capacity).to_any(),
        1 => LeakyBucket::new(quota).capacity(capacity).to_any(),
        2 => LeakyBucket::new(quota).capacity(capacity).policing().to_any(),
        3 => FixedWindow::new(quota).to_any(),
        4 => FixedWindow::new(quota).anchored().to_any(),
        5 => SlidingLog::new(quota).to_any(),
        _ => {
            let counter = SlidingCounter::new(quota);
            // The number of sub-windows has to divide the window.
            counter.try_sub_windows(random.u32(2..=8)).unwrap_or(counter).to_any()
        }
    }
}
