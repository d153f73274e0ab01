//! Compiled rules: the charges of a request, and how its response settles them.

use http::{Request, Response};

use super::{rule::Rule, scope::Scope, trust::Trust};
use crate::{
    config_error::ConfigError,
    extract::InNetworks,
    key::Key,
    limit::Limit,
    policy::{Access, ChargeBuilder, Settlement},
};

#[derive(Debug)]
pub(super) struct CompiledRules {
    /// The text that they were parsed from.
    pub(super) text: Box<str>,
    pub(super) rules: Vec<Rule>,
    pub(super) exemptions: Vec<Exemption>,
    pub(super) trust: Trust,
}

/// Requests that no rule counts: one `[[exempt]]` of a rules file.
#[derive(Debug)]
pub(super) struct Exemption {
    pub(super) scope: Scope,
    pub(super) networks: Option<InNetworks>,
}

impl CompiledRules {
    pub(super) fn charge<B>(&self, request: &Request<B>, charges: &mut ChargeBuilder) {
        let exempts = |exemption: &Exemption| exemption.matches(request, &self.trust);
        if self.exemptions.iter().any(exempts) {
            return charges.set_access(Ok(Access::Exempt));
        }
        let rules = self.rules.iter().filter(|rule| rule.scope.matches(request));
        rules.for_each(|rule| rule.push_charge(request, &self.trust, charges));
    }

    /// Settles the charges of the limits that these rules have. They may be newer than the charges.
    pub(super) fn settle<C: 'static>(&self, response: &mut Response<C>, settlement: &mut Settlement<'_>) {
        for rule in &self.rules {
            if let Some(mut charge) = settlement.tier(rule.limit.name()) {
                rule.outcome.settle(response, &mut charge);
            }
        }
    }

    /// The limit with this name, or its variant on a plan.
    pub(super) fn limit(&self, name: &str, plan: Option<&str>) -> Option<&Limit> {
        let rule = self.rule(name)?;
        match plan {
            Some(plan) => rule.limit_on(plan),
            None => Some(&rule.limit),
        }
    }

    /// The key of a limit for these values.
    pub(super) fn key(&self, name: &str, values: &[(&str, &str)]) -> Result<Key, ConfigError> {
        self.try_rule(name)?.key.key_of_values(values, &self.trust)
    }

    /// The key of a limit with this text in a store.
    pub(super) fn stored_key(&self, name: &str, text: &str) -> Result<Key, ConfigError> {
        self.try_rule(name)?.key.stored_key(text)
    }

    fn try_rule(&self, name: &str) -> Result<&Rule, ConfigError> {
        self.rule(name).ok_or_else(|| {
            let names: Vec<_> = self.rules.iter().map(|rule| rule.limit.name()).collect();
            let must = format!("be one of {}", names.join(", "));
            ConfigError::new("limit", format_args!("{name:?}"), must)
        })
    }

    fn rule(&self, name: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.limit.name() == name)
    }
}

impl Exemption {
    fn matches<B>(&self, request: &Request<B>, trust: &Trust) -> bool {
        let networks = self.networks.as_ref();
        self.scope.matches(request) && networks.is_none_or(|networks| trust.is_in_networks(networks, request))
    }
}
