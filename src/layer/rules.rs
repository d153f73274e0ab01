//! Limits from a rules file.

use std::marker::PhantomData;

use super::RateLimitLayer;
use crate::{respond::HttpResponder, rules::RuleSet, service::OnFailure, store::Store};

impl<St: Store> RateLimitLayer<RuleSet, RuleSet, St, HttpResponder, RuleSet> {
    /// A layer with the limits of a [rules file](crate::rules), charged together, all or none.
    ///
    /// The file contains all per-tier settings: [`tier`](Self::tier), [`cost`](Self::cost) and the other per-tier methods are
    /// not available. For limits in code, wrap this layer in another one.
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
            respond: HttpResponder::new(),
            on_failure: OnFailure::default(),
            wait: None,
        }
    }
}
