//! A heavy-tailed trace: few clients send much and many send little, in sessions of very different lengths, with pauses of
//! very different lengths between their requests.

use tollgate::Micros;

use crate::random::Random;

const SECOND: Micros = 1_000_000;

/// How many clients there are.
pub(crate) const CLIENTS: u64 = 40_000;
/// How long the trace is, but for sessions that go on.
const LENGTH: Micros = 60 * 60 * SECOND;
/// How many requests the busiest client sends, or some more. The second sends half as many, the third a third (Zipf's law).
const BUSIEST: u64 = 120_000;
/// The most requests in a session. The fewest are 1.
const LONGEST_SESSION: u64 = 1000;
/// The shortest pause between two requests of a session, and the longest.
const PAUSES: [Micros; 2] = [SECOND / 20, 60 * SECOND];

/// When a client's requests arrive, in order. Clients are numbered from 0, and the busiest is the first.
pub(crate) fn arrivals(client: u64) -> Vec<Micros> {
    let mut random = Random::seeded(client);
    let enough = BUSIEST / (client + 1);
    let mut arrivals = Vec::new();
    while arrivals.len() as u64 <= enough {
        let mut at = random.below(LENGTH);
        for _ in 0..random.heavy_tailed(1, LONGEST_SESSION) {
            arrivals.push(at);
            at += random.heavy_tailed(PAUSES[0], PAUSES[1]);
        }
    }
    arrivals.sort_unstable();
    arrivals
}
