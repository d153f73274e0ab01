//! A heavy-tailed trace: few clients send many requests and many clients send few, in sessions and with pauses of heavy-tailed
//! lengths.

use tollgate::Micros;

use crate::random::Random;

const SECOND: Micros = 1_000_000;

pub(crate) const CLIENTS: u64 = 40_000;
/// The length of the trace. A session that begins before its end continues beyond it.
const LENGTH: Micros = 60 * 60 * SECOND;
/// The minimum number of requests of the busiest client. The second client sends half as many, the third a third (Zipf's law).
const BUSIEST: u64 = 120_000;
/// Requests in a session: 1 to this many.
const MAX_SESSION: u64 = 1000;
/// The shortest and the longest pause between two requests of a session.
const PAUSES: [Micros; 2] = [SECOND / 20, 60 * SECOND];

/// When a client's requests arrive, in order. Clients are numbered from 0, the busiest first.
pub(crate) fn arrivals(client: u64) -> Vec<Micros> {
    let mut random = Random::seeded(client);
    let min_requests = BUSIEST / (client + 1);
    let mut arrivals = Vec::new();
    while arrivals.len() as u64 <= min_requests {
        let mut at = random.below(LENGTH);
        for _ in 0..random.heavy_tailed(1, MAX_SESSION) {
            arrivals.push(at);
            at += random.heavy_tailed(PAUSES[0], PAUSES[1]);
        }
    }
    arrivals.sort_unstable();
    arrivals
}

impl Random {
    /// A Pareto-distributed integer with exponent 1, from `min` to `max`. Integer arithmetic keeps the figures independent of a
    /// machine's floating-point functions.
    fn heavy_tailed(&mut self, min: u64, max: u64) -> u64 {
        const ONE: u64 = 1 << 32;
        let smallest = ONE * min / max;
        let share = smallest + 1 + self.below(ONE - smallest);
        ONE * min / share
    }
}
