//! The rules in force, and how they are replaced.

use std::{
    fmt, mem,
    path::Path,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, Weak},
};

use http::Request;

use super::{error::RulesError, file, in_force::Rules, source, trust::TrustedProxies};
use crate::{
    charge::Charges,
    extract::KeyError,
    invalid::Invalid,
    key::Key,
    limit::Limit,
    policy::{Bill, Policy, Sealed, Unbilled},
};

/// Limits as data: what a [rules file](super) says. Clones share them, so that one can be given to a
/// [layer](crate::RateLimitLayer::rules) and another be kept to replace them.
///
/// ```
/// use tollgate::{MemoryStore, RateLimitLayer, RuleSet};
///
/// let rules = RuleSet::parse(r#"
///     [[limit]]
///     name = "user"
///     algorithm = "token_bucket"
///     limit = 100
///     window = "1m"
///     key = "ip"
/// "#)?;
/// let app: axum::Router = axum::Router::new().layer(RateLimitLayer::rules(rules.clone(), MemoryStore::new()));
///
/// // Rules that are wrong are not taken.
/// assert!(rules.replace("limit = 100").is_err());
/// assert_eq!(rules.limits()[0].name(), "user");
/// # let _ = app;
/// # Ok::<(), tollgate::RulesError>(())
/// ```
#[derive(Clone)]
pub struct RuleSet(Arc<RwLock<Rules>>);

impl RuleSet {
    /// The rules that a text says, or all that is wrong with it.
    pub fn parse(text: &str) -> Result<Self, RulesError> {
        file::parse(text).map(|rules| Self(Arc::new(RwLock::new(rules))))
    }

    /// The rules that a file says, as it stands.
    pub fn read(file: impl AsRef<Path>) -> Result<Self, RulesError> {
        let file = file.as_ref();
        let rules = source::read(file).and_then(|text| Self::parse(&text));
        rules.map_err(|error| error.in_file(file))
    }

    /// Puts other rules in the place of these, for all clones and all at once, unless they are wrong.
    ///
    /// Those of a file that is [watched](Self::watch) are replaced again when the file changes.
    pub fn replace(&self, text: &str) -> Result<(), RulesError> {
        let rules = file::parse(text)?;
        let mut in_force = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let before = mem::replace(&mut *in_force, rules);
        // Nobody should wait for what it takes to free them.
        drop(in_force);
        drop(before);
        Ok(())
    }

    /// The limits in force, in the order of the file.
    pub fn limits(&self) -> Vec<Limit> {
        self.in_force().tiers.iter().map(|tier| tier.limit.clone()).collect()
    }

    /// The limit of this name, as those on this plan have it if one is given: nothing, if there is no such limit, or no such plan
    /// of it.
    ///
    /// It is for whoever asks a [store](crate::Store) about a key, to tell what is left of it or to [reset](crate::Limiter::reset)
    /// it.
    ///
    /// ```
    /// use tollgate::RuleSet;
    ///
    /// let rules = RuleSet::parse(r#"
    ///     [[limit]]
    ///     name = "user"
    ///     algorithm = "token_bucket"
    ///     limit = 100
    ///     window = "1m"
    ///     key = "header:x-user-id"
    ///     plan = "header:x-plan"
    ///     plans.pro = { limit = 1000 }
    ///
    ///     [trust]
    ///     proxies = ["127.0.0.1"]
    ///     headers = ["x-plan"]
    /// "#)?;
    /// let capacity = |plan| Some(rules.limit("user", plan)?.rule().capacity());
    /// assert_eq!(capacity(None), Some(100));
    /// assert_eq!(capacity(Some("pro")), Some(1000));
    /// assert_eq!(capacity(Some("free")), None);
    /// # Ok::<(), tollgate::RulesError>(())
    /// ```
    pub fn limit(&self, name: &str, plan: Option<&str>) -> Option<Limit> {
        self.in_force().limit(name, plan).cloned()
    }

    /// The key of a limit that has these values, each by its name: as `key` names it in the file, `"header:x-user-id"`, or
    /// either half of that. A value that is missing is replaced as that of a request would be, by the limit's `default`.
    ///
    /// It is for tools that look at what a [store](crate::Store) has of one client.
    ///
    /// ```
    /// use tollgate::RuleSet;
    ///
    /// let rules = RuleSet::parse(r#"
    ///     [[limit]]
    ///     name = "partner"
    ///     algorithm = "token_bucket"
    ///     limit = 100
    ///     window = "1m"
    ///     key = "apikey:x-api-key"
    /// "#)?;
    /// let key = rules.key("partner", &[("apikey", "password")])?;
    /// assert_eq!(key.as_str(), "apikey:5e884898da28047151d0e56f8dc62927");
    /// let error = rules.key("partner", &[("user", "alice")]).unwrap_err();
    /// assert_eq!(error.to_string(), "key = user: it must be apikey:x-api-key=VALUE");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn key(&self, limit: &str, values: &[(&str, &str)]) -> Result<Key, Invalid> {
        self.in_force().key(limit, values)
    }

    /// The key of a limit that has this text in stores, unless no key of the limit can have it.
    ///
    /// ```
    /// use tollgate::RuleSet;
    ///
    /// let rules = RuleSet::parse(r#"
    ///     [[limit]]
    ///     name = "user"
    ///     algorithm = "token_bucket"
    ///     limit = 100
    ///     window = "1m"
    ///     key = "header:x-user-id"
    /// "#)?;
    /// assert_eq!(rules.stored_key("user", "x-user-id:alice")?, rules.key("user", &[("x-user-id", "alice")])?);
    /// assert!(rules.stored_key("user", "ip:192.0.2.1").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stored_key(&self, limit: &str, text: &str) -> Result<Key, Invalid> {
        self.in_force().stored_key(limit, text)
    }

    /// The text of the rules in force: the last one that was [parsed](Self::parse), [read](Self::read), [watched](Self::watch)
    /// or put in their [place](Self::replace), and was not wrong.
    pub fn text(&self) -> String {
        self.in_force().text.clone().into()
    }

    /// The proxies that the rules in force trust, as `[trust]` names them.
    ///
    /// ```
    /// use tollgate::RuleSet;
    ///
    /// # let limit = "[[limit]]\nname = \"all\"\nalgorithm = \"token_bucket\"\nlimit = 1\nwindow = \"1s\"\nkey = \"ip\"\n";
    /// # let parse = |text: &str| RuleSet::parse(&format!("{limit}{text}"));
    /// let rules = parse(r#"
    ///     [trust]
    ///     proxies = ["10.0.0.0/8"]
    ///     headers = ["x-plan"]
    /// "#)?;
    /// let proxies = rules.trusted_proxies();
    /// assert!(proxies.contains([10, 0, 0, 1].into()));
    /// assert!(!proxies.contains([203, 0, 113, 9].into()));
    /// assert_eq!(proxies.forwarding_header(), "x-forwarded-for");
    /// assert_eq!(proxies.headers(), ["x-plan"]);
    /// # Ok::<(), tollgate::RulesError>(())
    /// ```
    pub fn trusted_proxies(&self) -> TrustedProxies {
        self.in_force().trust.proxies().clone()
    }

    /// What a request is charged, in the order of the file: nothing, if it is exempt or no limit is for it.
    ///
    /// It is for whoever asks a [store](crate::Store) without a layer, as a simulation does, and for
    /// [tests](crate::guide::testing) of a file.
    pub fn charges<B>(&self, request: &Request<B>) -> Result<Charges, KeyError> {
        let mut bill = Bill::default();
        self.in_force().bill(request, &mut bill);
        bill.due().map_err(|unbilled| match unbilled {
            Unbilled::Key(error) => error,
            Unbilled::Denied => unreachable!("rules deny nobody"),
        })
    }

    /// The same rules, without holding them.
    pub(super) fn unheld(&self) -> Unheld {
        Unheld(Arc::downgrade(&self.0))
    }

    pub(super) fn in_force(&self) -> RwLockReadGuard<'_, Rules> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sealed for RuleSet {}

impl<B, Res> Policy<Request<B>, Res> for RuleSet {
    fn bill(&self, request: &Request<B>, bill: &mut Bill) {
        self.in_force().bill(request, bill);
    }
}

impl fmt::Debug for RuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuleSet").field("limits", &self.limits()).finish()
    }
}

/// Rules that somebody else holds, or nobody any more.
pub(super) struct Unheld(Weak<RwLock<Rules>>);

impl Unheld {
    pub(super) fn held(&self) -> Option<RuleSet> {
        self.0.upgrade().map(RuleSet)
    }
}
