//! What is measured of a limit, under its name.

use std::{sync::Arc, time::Duration};

use metrics::{Key, Label, SharedString};

use super::{super::Said, counter, histogram, names};

/// The keys of a limit's metrics, so that counting takes nothing from the heap.
#[derive(Debug)]
pub(crate) struct LimitMeasures {
    /// By what was said, and by whether a fallback said it.
    decisions: [[Key; 2]; 4],
    shadow_refusals: Key,
    wait: Key,
    #[cfg(feature = "redis")]
    repeated_refusals: Key,
}

impl LimitMeasures {
    pub(crate) fn new(limit: &str) -> Self {
        let limit = Arc::from(limit);
        let labelled = |name, others: &[_]| labelled(name, &limit, others);
        let decided = |outcome| {
            let by = |by| labelled(names::DECISIONS, &[("outcome", outcome), ("by", by)]);
            [by("store"), by("fallback")]
        };
        Self {
            decisions: ["admitted", "spared", "limited", "impossible"].map(decided),
            shadow_refusals: labelled(names::SHADOW_REFUSALS, &[]),
            wait: labelled(names::WAIT, &[]),
            #[cfg(feature = "redis")]
            repeated_refusals: labelled(names::REPEATED_REFUSALS, &[]),
        }
    }

    /// It has said this of a request, or its fallback has.
    pub(crate) fn decided(&self, said: Said, by_fallback: bool) {
        counter(&self.decisions[said as usize][usize::from(by_fallback)]).increment(1);
    }

    /// It would have refused a request if it were not a shadow.
    pub(crate) fn refused_as_shadow(&self) {
        counter(&self.shadow_refusals).increment(1);
    }

    /// It has held a request back for so long.
    pub(crate) fn held(&self, time: Duration) {
        histogram(&self.wait).record(time);
    }

    /// Its refusal of a request was repeated without asking.
    #[cfg(feature = "redis")]
    pub(crate) fn repeated(&self) {
        counter(&self.repeated_refusals).increment(1);
    }
}

fn labelled(name: &'static str, limit: &Arc<str>, others: &[(&'static str, &'static str)]) -> Key {
    let limit = Label::new("limit", SharedString::from(Arc::clone(limit)));
    let others = others
        .iter()
        .map(|(label, value)| Label::from_static_parts(label, value));
    Key::from_parts(name, [limit].into_iter().chain(others).collect::<Vec<_>>())
}

/// Nothing that the limit's name does not say.
impl PartialEq for LimitMeasures {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for LimitMeasures {}
