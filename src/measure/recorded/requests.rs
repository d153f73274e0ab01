//! How many requests there were, by what became of them.

use std::sync::LazyLock;

use metrics::{Counter, Key, Label};

use super::{
    super::{By, Fate},
    handles::{counter, key},
    names,
};

/// Counts a request.
pub(crate) fn request(fate: Fate, by: By) {
    requests(fate, by).increment(1);
}

/// Whoever waits for the first of these sees a rate only if there was a count before it.
#[cfg(feature = "redis")]
pub(super) fn foresee_failures() {
    for fate in [Fate::Unchecked, Fate::Unavailable] {
        requests(fate, By::Nobody).increment(0);
    }
}

fn requests(fate: Fate, by: By) -> Counter {
    static KEYS: LazyLock<[[Key; 3]; 8]> = LazyLock::new(|| {
        let key = |fate: Fate, by: By| {
            let outcome = Label::from_static_parts("outcome", fate.name());
            key(names::REQUESTS, [outcome, Label::from_static_parts("by", by.name())])
        };
        [
            Fate::Admitted,
            Fate::Limited,
            Fate::Impossible,
            Fate::Exempt,
            Fate::Denied,
            Fate::Uncounted,
            Fate::Unchecked,
            Fate::Unavailable,
        ]
        .map(|fate| [By::Store, By::Fallback, By::Nobody].map(|by| key(fate, by)))
    });
    counter(&KEYS[fate as usize][by as usize])
}
