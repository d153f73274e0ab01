//! The content of a decision, in a form that the reference decoder and the crate's decoder can be compared by.

use std::time::Duration;

use http::{Request, Response};
use tollgate::{
    Decision, HttpResponder, Operation, Outcome, Rejection, ResetUnit, Respond, TierDecision,
    fuzzing::{Call, at, marks},
};

/// The expected decision of one operation.
#[derive(Debug, PartialEq)]
pub(super) struct Expected {
    pub(super) now: u64,
    pub(super) charges: Vec<ExpectedCharge>,
}

/// One charge of a decision: its verdict as the script sends it, and its mark.
#[derive(Debug, PartialEq)]
pub(super) struct ExpectedCharge {
    pub(super) verdict: [u64; 4],
    pub(super) mark: Option<[u64; 2]>,
}

/// Why an operation has no decision.
#[derive(Debug, PartialEq)]
pub(super) enum NoDecision {
    Malformed,
    /// Redis reported an error.
    Failed,
}

impl Expected {
    pub(super) fn from_decision(decision: &Decision) -> Self {
        let charges = decision.tiers().iter().zip(marks(decision));
        Self {
            now: decision.now(),
            charges: charges.map(|(tier, mark)| ExpectedCharge::new(tier, mark)).collect(),
        }
    }
}

impl ExpectedCharge {
    fn new(tier: &TierDecision, mark: Option<[u64; 2]>) -> Self {
        let verdict = tier.verdict();
        let (outcome, wait) = match verdict.outcome() {
            Outcome::Admitted { delay } => (0, delay),
            Outcome::Limited { retry_after } => (1, retry_after),
            Outcome::Impossible => (2, Duration::ZERO),
            other => panic!("unknown outcome {other:?}"),
        };
        Self {
            verdict: [
                outcome,
                verdict.remaining(),
                wait.as_micros() as u64,
                verdict.reset_after().as_micros() as u64,
            ],
            mark,
        }
    }

    fn admits(&self) -> bool {
        self.verdict[0] == 0
    }
}

/// A decision admits only if every charge that is no shadow does, and it can be rendered for clients, replayed later and refunded.
pub(super) fn is_usable(decision: Decision) {
    let expected = Expected::from_decision(&decision).charges;
    let mut charges = decision.tiers().iter().zip(&expected);
    let all = charges.all(|(tier, expected)| tier.is_shadow() || expected.admits());
    assert_eq!(decision.admits(), all);
    for unit in [ResetUnit::Epoch, ResetUnit::Delta] {
        respond(&HttpResponder::new().reset_unit(unit), &decision);
    }
    let now = decision.now();
    let mut later = at(decision, now + 1_000_000);
    if let Some(receipt) = later.take_receipt() {
        Call::new(vec![Operation::Refund(receipt)], Some(later.now()));
    }
}

fn respond(responder: &impl Respond<Request<()>, Response<String>, ()>, decision: &Decision) {
    let mut request = Request::new(());
    let context = || responder.context(&Request::new(()));
    responder.forward(decision, &mut request);
    let mut response = Response::new(String::new());
    responder.admit(context(), decision, &mut response);
    let rejection = Rejection::Limited(decision.without_receipt().into());
    responder
        .reject(context(), rejection)
        .expect("a response for every rejection");
}
