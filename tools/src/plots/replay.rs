//! What a rule makes of requests that arrive at given times: by the crate's own functions, and no store.

use tollgate::{Algorithm, Micros, Outcome, Rule, State};

use crate::common::busiest::Busiest;

/// What became of a request.
pub(crate) struct Seen {
    pub(crate) at: Micros,
    /// When it was let through, at once or after its time in a queue; never if it was refused.
    pub(crate) leaves: Option<Micros>,
}

/// Sends one request after another, from a state that is fresh.
pub(crate) fn replay(rule: &Rule, arrivals: &[Micros]) -> Vec<Seen> {
    let mut state = State::default();
    let seen = arrivals.iter().map(|&at| {
        let (verdict, _) = rule.acquire(&mut state, at, 1);
        let leaves = match verdict.outcome() {
            Outcome::Admitted { delay } => Some(at + delay),
            _ => None,
        };
        Seen { at, leaves }
    });
    seen.collect()
}

/// The most that left in any span of this length, wherever it begins. Two that are exactly as far apart are not both in it.
pub(crate) fn most_in_any(span: Micros, seen: &[Seen]) -> u64 {
    let mut busiest = Busiest::new(span);
    let leave = seen.iter().filter_map(|seen| seen.leaves);
    leave.for_each(|at| busiest.add(at));
    busiest.most() as u64
}
