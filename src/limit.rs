//! A rule with a name: what keys are counted under.

use std::{fmt, hash::BuildHasher, sync::Arc};

use foldhash::quality::FixedState;

use crate::{
    algorithm::{Algorithm, Rule},
    invalid::{self, Invalid},
    measure::LimitMeasures,
};

/// A named rule. Clones share it.
///
/// On one store, limits of the same name, algorithm and shape (window, sub-windows, anchoring) are one limit, whoever
/// charges them. How much they allow is not part of that: what was used stays used when a limit is raised or lowered.
/// (A bucket whose rate is lowered may still be forgotten when it would have been full again at the old one.)
///
/// ```
/// use tollgate::{Limit, Quota, SlidingCounter};
///
/// let limit = Limit::new("user", SlidingCounter::new(Quota::per_minute(100)));
/// assert_eq!(limit.to_string(), "sliding_counter:user:60000000:1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit(Arc<Named>);

#[derive(Debug, PartialEq, Eq)]
struct Named {
    name: Box<str>,
    rule: Rule,
    shape: Box<str>,
    /// A hash of the shape, so that it need not be hashed with every key. Not secret, and not what tells limits apart.
    shape_hash: u64,
    measures: LimitMeasures,
}

impl Limit {
    /// A rule under a name of 1 to 64 of `a-z 0-9 _ . -`.
    ///
    /// # Panics
    /// Where [`try_new`](Self::try_new) returns an error.
    #[track_caller]
    pub fn new(name: &str, algorithm: impl Algorithm) -> Self {
        invalid::expect(Self::try_new(name, algorithm))
    }

    /// A rule under a name, or an error when the name will not do.
    pub fn try_new(name: &str, algorithm: impl Algorithm) -> Result<Self, Invalid> {
        check_name(name)?;
        Ok(Self::named(name, algorithm.rule(), LimitMeasures::new(name)))
    }

    /// Another version of it: the same name, by another rule.
    pub(crate) fn version(&self, rule: Rule) -> Self {
        Self::named(self.name(), rule, self.measures().clone())
    }

    fn named(name: &str, rule: Rule, measures: LimitMeasures) -> Self {
        let shape: Box<str> = shape(name, &rule).into();
        Self(Arc::new(Named {
            name: name.into(),
            rule,
            shape_hash: FixedState::default().hash_one(&shape),
            shape,
            measures,
        }))
    }

    /// A rule beside others that are charged together, unless its name will not do or is one of theirs.
    pub(crate) fn another<'a>(
        others: impl IntoIterator<Item = &'a Self>,
        name: &str,
        algorithm: impl Algorithm,
    ) -> Result<Self, Invalid> {
        if others.into_iter().any(|other| other.name() == name) {
            let must = "differ from the names of the other tiers";
            return Err(Invalid::new("name", format_args!("{name:?}"), must));
        }
        Self::try_new(name, algorithm)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Its rule.
    pub fn rule(&self) -> &Rule {
        &self.0.rule
    }

    /// What stored keys begin with: all that makes two limits one, and nothing else.
    pub(crate) fn shape(&self) -> &str {
        &self.0.shape
    }

    /// What a store hashes in place of the shape.
    pub(crate) fn shape_hash(&self) -> u64 {
        self.0.shape_hash
    }

    /// What is measured under its name.
    pub(crate) fn measures(&self) -> &LimitMeasures {
        &self.0.measures
    }

    /// Whether the two are one limit, if perhaps in two versions.
    pub(crate) fn counts_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.shape == other.0.shape
    }

    /// Becomes the other version of the same limit, and tells whether that is another one.
    pub(crate) fn follow(&mut self, other: &Self) -> bool {
        let another = !Arc::ptr_eq(&self.0, &other.0);
        if another {
            self.0 = Arc::clone(&other.0);
        }
        another
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.shape())
    }
}

fn shape(name: &str, rule: &Rule) -> String {
    let (algorithm, window) = (rule.name(), rule.quota().window_micros());
    match rule {
        Rule::SlidingCounter(rule) => format!("{algorithm}:{name}:{window}:{}", rule.buckets),
        Rule::FixedWindow(rule) if rule.anchored => format!("{algorithm}:{name}:{window}:anchored"),
        _ => format!("{algorithm}:{name}:{window}"),
    }
}

/// What a limit's name may be, so that it reads well in keys, headers and metrics.
pub(crate) fn check_name(name: &str) -> Result<(), Invalid> {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_.-".contains(&byte);
    if name.is_empty() || name.len() > 64 || !name.bytes().all(allowed) {
        return Err(Invalid::new(
            "name",
            format_args!("{name:?}"),
            "be 1 to 64 of a-z 0-9 _ . -",
        ));
    }
    Ok(())
}
