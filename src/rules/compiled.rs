//! Compiled rules: the charges of a request, and how its response settles them.

use std::collections::HashMap;

use http::{Request, Response};

use super::{
    descriptor::{Descriptor, DescriptorRequest},
    descriptor_pattern::DescriptorPattern,
    rule::{DescriptorRule, Rule},
    scope::Scope,
    trust::Trust,
};
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

/// What no rule counts: one `[[exempt]]` of a rules file.
#[derive(Debug)]
pub(super) enum Exemption {
    Requests { scope: Scope, networks: Option<InNetworks> },
    Descriptors(DescriptorPattern),
}

impl CompiledRules {
    pub(super) fn charge<B>(&self, request: &Request<B>, charges: &mut ChargeBuilder) {
        let exempts = |exemption: &Exemption| exemption.matches(request, &self.trust);
        if self.exemptions.iter().any(exempts) {
            return charges.set_access(Ok(Access::Exempt));
        }
        let rules = self.rules.iter().filter_map(Rule::as_request);
        rules
            .filter(|rule| rule.scope.matches(request))
            .for_each(|rule| rule.push_charge(request, &self.trust, charges));
    }

    pub(super) fn charge_descriptors(&self, request: &DescriptorRequest, charges: &mut ChargeBuilder) {
        for descriptor in request.descriptors() {
            let exempts = |exemption: &Exemption| exemption.matches_descriptor(request.domain(), descriptor);
            if !self.exemptions.iter().any(exempts) {
                let rules = self.descriptor_rules(request.domain(), descriptor);
                rules.for_each(|rule| charges.push_or_add(rule.charge(descriptor)));
            }
        }
    }

    /// The most specific of the rules that match a descriptor. A shadow is not counted if a more specific rule replaces it, but it
    /// never replaces a rule that is enforced.
    fn descriptor_rules<'r>(
        &'r self,
        domain: &'r str,
        descriptor: &'r Descriptor,
    ) -> impl Iterator<Item = &'r DescriptorRule> {
        let matching = move |rule: &&DescriptorRule| rule.pattern.matches(domain, descriptor);
        let rules = move || self.rules.iter().filter_map(Rule::as_descriptor).filter(matching);
        let max = |rules: &mut dyn Iterator<Item = &'r DescriptorRule>| {
            rules
                .map(|rule| &rule.pattern)
                .max_by(|first, second| first.cmp_specificity(second))
        };
        let most_specific = max(&mut rules());
        let most_specific_enforced = max(&mut rules().filter(|rule| !rule.shadow));
        rules().filter(move |rule| {
            let most_specific = if rule.shadow {
                most_specific
            } else {
                most_specific_enforced
            };
            most_specific.is_some_and(|pattern| rule.pattern.cmp_specificity(pattern).is_eq())
        })
    }

    /// Settles the charges of the limits that these rules have. They may be newer than the charges.
    pub(super) fn settle<C: 'static>(&self, response: &mut Response<C>, settlement: &mut Settlement<'_>) {
        for rule in self.rules.iter().filter_map(Rule::as_request) {
            if let Some(mut charge) = settlement.tier(rule.limit.name()) {
                rule.outcome.settle(response, &mut charge);
            }
        }
    }

    /// Makes the limits of these rules the versions in force of those that they replace. A plan that they lack has the rule's own limit.
    pub(super) fn replace(&self, previous: &Self) {
        let rules: HashMap<&str, &Rule> = self.rules.iter().map(|rule| (rule.limit().name(), rule)).collect();
        for previous in &previous.rules {
            let Some(rule) = rules.get(previous.limit().name()) else {
                continue;
            };
            previous.limit().replaced_by(rule.limit());
            for (plan, limit) in previous.limits_on_plans() {
                limit.replaced_by(rule.limit_on(plan).unwrap_or(rule.limit()));
            }
        }
    }

    /// The limit with this name, or its variant on a plan.
    pub(super) fn limit(&self, name: &str, plan: Option<&str>) -> Option<&Limit> {
        let rule = self.rule(name)?;
        match plan {
            Some(plan) => rule.limit_on(plan),
            None => Some(rule.limit()),
        }
    }

    /// The key of a limit for these values.
    pub(super) fn key(&self, name: &str, values: &[(&str, &str)]) -> Result<Key, ConfigError> {
        self.try_rule(name)?.key_of_values(values, &self.trust)
    }

    /// The key of a limit with this text in a store.
    pub(super) fn stored_key(&self, name: &str, text: &str) -> Result<Key, ConfigError> {
        self.try_rule(name)?.stored_key(text)
    }

    fn try_rule(&self, name: &str) -> Result<&Rule, ConfigError> {
        self.rule(name).ok_or_else(|| {
            let names: Vec<_> = self.rules.iter().map(|rule| rule.limit().name()).collect();
            let must = format!("be one of {}", names.join(", "));
            ConfigError::new("limit", format_args!("{name:?}"), must)
        })
    }

    fn rule(&self, name: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.limit().name() == name)
    }
}

impl Exemption {
    fn matches<B>(&self, request: &Request<B>, trust: &Trust) -> bool {
        match self {
            Self::Requests { scope, networks } => {
                let networks = networks.as_ref();
                scope.matches(request) && networks.is_none_or(|networks| trust.is_in_networks(networks, request))
            }
            Self::Descriptors(_) => false,
        }
    }

    fn matches_descriptor(&self, domain: &str, descriptor: &Descriptor) -> bool {
        match self {
            Self::Requests { .. } => false,
            Self::Descriptors(pattern) => pattern.matches(domain, descriptor),
        }
    }
}
