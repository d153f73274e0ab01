//! What is measured of a limit, under its name.

use std::{fmt, sync::Arc, time::Duration};

use metrics::{Key, Label, SharedString};

use super::{
    super::Said,
    handles::{counter, histogram, key},
    names,
};

/// The keys of a limit's metrics, so that counting takes nothing from the heap. All versions of a limit share them.
#[derive(Clone)]
pub(crate) struct LimitMeasures(Arc<Keys>);

struct Keys {
    /// By what was said.
    decisions: [Key; 4],
    shadow_refusals: Key,
    wait: Key,
    #[cfg(feature = "redis")]
    repeated_refusals: Key,
}

impl LimitMeasures {
    pub(crate) fn new(limit: &str) -> Self {
        let limit = SharedString::from(Arc::<str>::from(limit));
        let limit = || Label::new("limit", limit.clone());
        let decided = |said: Said| {
            let outcome = Label::from_static_parts("outcome", said.name());
            key(names::DECISIONS, [limit(), outcome])
        };
        Self(Arc::new(Keys {
            decisions: [Said::Admitted, Said::Spared, Said::Limited, Said::Impossible].map(decided),
            shadow_refusals: key(names::SHADOW_REFUSALS, [limit()]),
            wait: key(names::WAIT, [limit()]),
            #[cfg(feature = "redis")]
            repeated_refusals: key(names::REPEATED_REFUSALS, [limit()]),
        }))
    }

    /// It has said this of a request.
    pub(crate) fn decided(&self, said: Said) {
        counter(&self.0.decisions[said as usize]).increment(1);
    }

    /// It would have refused a request if it were not a shadow.
    pub(crate) fn refused_as_shadow(&self) {
        counter(&self.0.shadow_refusals).increment(1);
    }

    /// It has held a request back for so long.
    pub(crate) fn held(&self, time: Duration) {
        histogram(&self.0.wait).record(time);
    }

    /// Its refusal of a request was repeated without asking.
    #[cfg(feature = "redis")]
    pub(crate) fn repeated(&self) {
        counter(&self.0.repeated_refusals).increment(1);
    }
}

/// Nothing that the limit's name does not say.
impl PartialEq for LimitMeasures {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for LimitMeasures {}

impl fmt::Debug for LimitMeasures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitMeasures").finish_non_exhaustive()
    }
}
