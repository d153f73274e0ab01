//! Limits from a rules file.

use std::marker::PhantomData;

use super::RateLimitLayer;
use crate::{respond::HttpAnswers, rules::RuleSet, service::OnFailure, store::Store};

impl<St: Store> RateLimitLayer<RuleSet, RuleSet, St, HttpAnswers, RuleSet> {
    /// The limits of a [rules file](crate::rules), charged together, all or none.
    ///
    /// Whatever is about single tiers is said in the file: [`tier`](Self::tier), [`cost`](Self::cost) and the others are for
    /// limits in code. Put another layer around this one for those.
    ///
    /// ```no_run
    /// use axum::{Router, routing::get};
    /// use tollgate::{MemoryStore, RateLimitLayer, RuleSet};
    ///
    /// let rules = RuleSet::watch("rules.toml")?;
    /// let app: Router = Router::new()
    ///     .route("/api/search", get(async || "found"))
    ///     .layer(RateLimitLayer::rules(rules, MemoryStore::new()).fail_closed());
    /// # let _ = app;
    /// # Ok::<(), tollgate::RulesError>(())
    /// ```
    pub fn rules(rules: RuleSet, store: St) -> Self {
        Self {
            first: PhantomData,
            policy: rules,
            tiers: Vec::new(),
            store,
            respond: HttpAnswers::new(),
            on_failure: OnFailure::default(),
            patience: None,
        }
    }
}
