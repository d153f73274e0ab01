//! A shared set of rules that can be replaced at runtime.

use std::{
    fmt, fs, mem,
    path::Path,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, Weak},
};

use http::{Request, Response};

use super::{compiled::CompiledRules, descriptor::DescriptorRequest, error::RulesError, parser, trust::TrustedProxies};
use crate::{
    charge::Charges,
    config_error::ConfigError,
    extract::KeyError,
    key::Key,
    limit::Limit,
    policy::{ChargeBuilder, NotCharged, Policy, Sealed, Settlement},
};

/// Bounds the size of a rules file, so that a log file passed by mistake is not read on every poll.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The rules of a [rules file](super).
///
/// Clones share the rules: pass one clone to a [layer](crate::RulesLayer), and keep another to replace them.
///
/// ```
/// use tollgate::{MemoryStore, RuleSet, RulesLayer};
///
/// let rules = RuleSet::parse(r#"
///     [[limit]]
///     name = "user"
///     algorithm = "token_bucket"
///     limit = 100
///     window = "1m"
///     key = "ip"
/// "#)?;
/// let app: axum::Router = axum::Router::new().layer(RulesLayer::new(rules.clone(), MemoryStore::new()));
///
/// // Invalid rules are not applied.
/// assert!(rules.replace("limit = 100").is_err());
/// assert_eq!(rules.limits()[0].name(), "user");
/// # let _ = app;
/// # Ok::<(), tollgate::RulesError>(())
/// ```
#[derive(Clone)]
pub struct RuleSet(Arc<RwLock<CompiledRules>>);

impl RuleSet {
    /// Parses rules. The error contains a diagnostic for each fault.
    pub fn parse(text: &str) -> Result<Self, RulesError> {
        parser::parse(text).map(|rules| Self(Arc::new(RwLock::new(rules))))
    }

    /// Reads a rules file once, without watching it.
    pub fn read(file: impl AsRef<Path>) -> Result<Self, RulesError> {
        let file = file.as_ref();
        let rules = read_text(file).and_then(|text| Self::parse(&text));
        rules.map_err(|error| error.in_file(file))
    }

    /// Replaces the rules atomically, for all clones, unless the text is invalid.
    ///
    /// If the file is [watched](Self::watch), its next change replaces them again.
    pub fn replace(&self, text: &str) -> Result<(), RulesError> {
        if *self.compiled().text == *text {
            return Ok(());
        }
        let rules = parser::parse(text)?;
        let mut current = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let previous = mem::replace(&mut *current, rules);
        current.replace(&previous);
        // Unlocks before freeing the previous rules, so that requests do not wait for that.
        drop(current);
        drop(previous);
        Ok(())
    }

    /// The current limits, in the order of the file.
    pub fn limits(&self) -> Vec<Limit> {
        self.compiled().rules.iter().map(|rule| rule.limit().clone()).collect()
    }

    /// The limit with this name, or its variant on a plan; `None` if the limit or the plan does not exist.
    ///
    /// For tools that [peek](crate::Limiter::peek) at a key or [reset](crate::Limiter::reset) it.
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
    /// let capacity = |plan| Some(rules.limit("user", plan)?.algorithm().capacity());
    /// assert_eq!(capacity(None), Some(100));
    /// assert_eq!(capacity(Some("pro")), Some(1000));
    /// assert_eq!(capacity(Some("free")), None);
    /// # Ok::<(), tollgate::RulesError>(())
    /// ```
    pub fn limit(&self, name: &str, plan: Option<&str>) -> Option<Limit> {
        self.compiled().limit(name, plan).cloned()
    }

    /// The key of a limit for named values.
    ///
    /// The name of a value is that of the key part in the file, like `"header:x-user-id"`, or the text before or after its colon.
    /// The limit's `default` replaces a missing value, as for a request. For tools that look up a client in a
    /// [store](crate::Store).
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
    pub fn key(&self, limit: &str, values: &[(&str, &str)]) -> Result<Key, ConfigError> {
        self.compiled().key(limit, values)
    }

    /// The key of a limit from its text in a store, or an error if no key of the limit can have this text.
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
    pub fn stored_key(&self, limit: &str, text: &str) -> Result<Key, ConfigError> {
        self.compiled().stored_key(limit, text)
    }

    /// The text of the current rules: the last valid text that was [parsed](Self::parse), [read](Self::read),
    /// [reloaded](Self::watch) or [replaced](Self::replace).
    pub fn text(&self) -> String {
        self.compiled().text.clone().into()
    }

    /// The proxies that the current rules trust in `[trust]`.
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
        self.compiled().trust.proxies().clone()
    }

    /// The charges of a request, in the order of the file; none if the request is exempt or in no limit's scope.
    ///
    /// For callers that use a [store](crate::Store) without a layer, such as simulations and [tests](crate::guide::testing).
    pub fn charges<B>(&self, request: &Request<B>) -> Result<Charges, KeyError> {
        let mut charges = ChargeBuilder::default();
        self.compiled().charge(request, &mut charges);
        let charges = charges.finish().map_err(|not_charged| match not_charged {
            NotCharged::Key(error) => error,
            NotCharged::Blocked => unreachable!("rules block no requests"),
        });
        charges.map(without_layer)
    }

    /// The charges of a request's descriptors, in the order of the descriptors; none if no limit applies to them.
    ///
    /// For callers that use a [store](crate::Store) without a [layer](crate::RulesLayer).
    pub fn descriptor_charges(&self, request: &DescriptorRequest) -> Charges {
        let mut charges = ChargeBuilder::default();
        self.compiled().charge_descriptors(request, &mut charges);
        let charges = charges.finish();
        without_layer(charges.unwrap_or_else(|_| unreachable!("descriptors are never blocked, and have all keys")))
    }

    /// A weak reference to the rules.
    pub(super) fn downgrade(&self) -> WeakRuleSet {
        WeakRuleSet(Arc::downgrade(&self.0))
    }

    pub(super) fn compiled(&self) -> RwLockReadGuard<'_, CompiledRules> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Only layers have failure modes.
fn without_layer(mut charges: Charges) -> Charges {
    charges.set_fails_open(false);
    charges
}

impl Sealed for RuleSet {}

impl<B, C: 'static> Policy<Request<B>, Response<C>> for RuleSet {
    fn charge(&self, request: &Request<B>, charges: &mut ChargeBuilder) {
        self.compiled().charge(request, charges);
    }

    fn settle(&self, response: &mut Response<C>, settlement: &mut Settlement<'_>) {
        self.compiled().settle(response, settlement);
    }
}

impl<Res> Policy<DescriptorRequest, Res> for RuleSet {
    fn charge(&self, request: &DescriptorRequest, charges: &mut ChargeBuilder) {
        self.compiled().charge_descriptors(request, charges);
    }
}

impl fmt::Debug for RuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuleSet").field("limits", &self.limits()).finish()
    }
}

/// A weak reference to a [`RuleSet`].
pub(super) struct WeakRuleSet(Weak<RwLock<CompiledRules>>);

impl WeakRuleSet {
    pub(super) fn upgrade(&self) -> Option<RuleSet> {
        self.0.upgrade().map(RuleSet)
    }
}

/// Reads the text of a rules file.
pub(super) fn read_text(path: &Path) -> Result<String, RulesError> {
    let unreadable = |error| RulesError::unusable(format_args!("it cannot be read: {error}"));
    let metadata = fs::metadata(path).map_err(unreadable)?;
    // Opening a pipe would block until it has a writer.
    if !metadata.is_file() {
        return Err(RulesError::unusable("it is not a file"));
    }
    if metadata.len() > MAX_FILE_BYTES {
        let size = metadata.len();
        return Err(RulesError::unusable(format_args!(
            "it has {size} bytes, and the maximum is {MAX_FILE_BYTES}"
        )));
    }
    let bytes = fs::read(path).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        parser::invalid_utf8(&String::from_utf8_lossy(&error.as_bytes()[..valid]))
    })
}

#[cfg(test)]
mod tests;
