//! Replays arrivals through an algorithm's pure functions, without a store.

use tollgate::{Algorithm, AnyAlgorithm, Micros, Outcome, State};

use crate::common::peak_count::PeakCount;

/// One request of a replay.
pub(crate) struct Replayed {
    pub(crate) arrival: Micros,
    /// When it was admitted, at once or after its delay in a queue; `None` if it was denied.
    pub(crate) departure: Option<Micros>,
}

/// Replays the requests in order, from a fresh state.
pub(crate) fn replay(algorithm: &AnyAlgorithm, arrivals: &[Micros]) -> Vec<Replayed> {
    let mut state = State::default();
    let requests = arrivals.iter().map(|&arrival| {
        let (verdict, _) = algorithm.acquire(&mut state, arrival, 1);
        let departure = match verdict.outcome() {
            Outcome::Admitted { delay } => Some(arrival + delay.as_micros() as Micros),
            _ => None,
        };
        Replayed { arrival, departure }
    });
    requests.collect()
}

/// The maximum number of departures in any half-open span of this length.
pub(crate) fn max_in_any(span: Micros, requests: &[Replayed]) -> u64 {
    let mut peak = PeakCount::new(span);
    let departures = requests.iter().filter_map(|request| request.departure);
    departures.for_each(|at| peak.add(at));
    peak.max() as u64
}
