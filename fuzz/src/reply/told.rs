//! What a decision tells, and what is done with it.

use http::{Request, Response};
use tollgate::{
    Decision, HttpAnswers, Operation, Outcome, Rejection, ResetUnit, Respond, Tier,
    fuzzing::{Call, at, marks},
};

/// What one operation was told.
#[derive(Debug, PartialEq)]
pub(super) struct Told {
    pub(super) now: u64,
    pub(super) charges: Vec<ToldOf>,
}

/// What one charge was told: its verdict as the program sends it, and where it left its trace.
#[derive(Debug, PartialEq)]
pub(super) struct ToldOf {
    pub(super) verdict: [u64; 4],
    pub(super) mark: Option<[u64; 2]>,
}

/// Why an operation was told nothing.
#[derive(Debug, PartialEq)]
pub(super) enum Untold {
    Senseless,
    /// In Redis's words.
    Failed,
}

impl Told {
    pub(super) fn of(decision: &Decision) -> Self {
        let charges = decision.tiers().iter().zip(marks(decision));
        Self {
            now: decision.now(),
            charges: charges.map(|(tier, mark)| ToldOf::new(tier, mark)).collect(),
        }
    }
}

impl ToldOf {
    fn new(tier: &Tier, mark: Option<[u64; 2]>) -> Self {
        let verdict = tier.verdict();
        let (outcome, wait) = match verdict.outcome() {
            Outcome::Admitted { delay } => (0, delay),
            Outcome::Limited { retry_after } => (1, retry_after),
            Outcome::Impossible => (2, 0),
            other => panic!("{other:?} is new here"),
        };
        Self {
            verdict: [
                outcome,
                verdict.remaining(),
                wait,
                verdict.reset_after().as_micros() as u64,
            ],
            mark,
        }
    }

    fn admits(&self) -> bool {
        self.verdict[0] == 0
    }
}

/// Nobody passes unless every charge that is no shadow says so; and whatever it says can be told to clients, repeated later
/// and given back.
pub(super) fn is_harmless(decision: Decision) {
    let told = Told::of(&decision).charges;
    let mut charges = decision.tiers().iter().zip(&told);
    let all = charges.all(|(tier, told)| tier.is_shadow() || told.admits());
    assert_eq!(decision.admits(), all);
    for unit in [ResetUnit::Epoch, ResetUnit::Delta] {
        answer(&HttpAnswers::new().reset_unit(unit), &decision);
    }
    let now = decision.now();
    let mut later = at(decision, now + 1_000_000);
    if let Some(receipt) = later.take_receipt() {
        Call::new(vec![Operation::Refund(receipt)], Some(later.now()));
    }
}

fn answer(answers: &impl Respond<Request<()>, Response<String>, ()>, decision: &Decision) {
    let mut request = Request::new(());
    let context = || answers.context(&Request::new(()));
    answers.forward(decision, &mut request);
    let mut response = Response::new(String::new());
    answers.admit(context(), decision, &mut response);
    let why = Rejection::Limited(Box::new(decision.clone()));
    answers
        .reject(context(), why)
        .expect("there is an answer to everything");
}
