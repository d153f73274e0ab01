//! What operators are told of a decision, whoever asked for it: a layer or a limiter.

use crate::{
    decision::Decision,
    measure::{self, Fate, Said},
    verdict::Outcome,
};

/// The last answer that a request gets: there is none after it.
pub(crate) async fn answer<E>(asking: impl Future<Output = Result<Decision, E>>) -> Result<Decision, E> {
    let answer = asking.await;
    match &answer {
        Ok(decision) => decided(decision),
        Err(_) => measure::request(Fate::Unavailable),
    }
    answer
}

/// A store has decided. Every tier is counted once: under what it said, or as a shadow that would have refused.
pub(crate) fn decided(decision: &Decision) {
    measure::request(match decision.outcome() {
        Outcome::Admitted { .. } => Fate::Admitted,
        Outcome::Limited { .. } => Fate::Limited,
        Outcome::Impossible => Fate::Impossible,
    });
    let is_admitted = decision.admits();
    for tier in decision.tiers() {
        let measures = tier.limit().measures();
        let said = match tier.verdict().outcome() {
            Outcome::Admitted { .. } if is_admitted => Said::Admitted,
            Outcome::Admitted { .. } => Said::Spared,
            _ if tier.is_shadow() => {
                measures.refused_as_shadow();
                continue;
            }
            Outcome::Limited { .. } => Said::Limited,
            Outcome::Impossible => Said::Impossible,
        };
        measures.decided(said, decision.is_by_fallback());
    }
}
