//! A rule: one `[[limit]]` of a rules file.

use super::{descriptor::Descriptor, descriptor_pattern::DescriptorPattern, request_rule::RequestRule, trust::Trust};
use crate::{charge::Charge, config_error::ConfigError, key::Key, limit::Limit};

/// A limit, and what it counts: HTTP requests, or descriptors.
#[derive(Debug)]
pub(super) enum Rule {
    Request(Box<RequestRule>),
    Descriptor(DescriptorRule),
}

/// A limit with the descriptors that it counts.
#[derive(Debug)]
pub(super) struct DescriptorRule {
    pub(super) limit: Limit,
    pub(super) pattern: DescriptorPattern,
    pub(super) shadow: bool,
}

impl Rule {
    pub(super) fn limit(&self) -> &Limit {
        match self {
            Self::Request(rule) => &rule.limit,
            Self::Descriptor(rule) => &rule.limit,
        }
    }

    /// The limit of a plan, if it exists.
    pub(super) fn limit_on(&self, plan: &str) -> Option<&Limit> {
        match self {
            Self::Request(rule) => rule.limit_on(plan),
            Self::Descriptor(_) => None,
        }
    }

    /// The limits of all plans.
    pub(super) fn limits_on_plans(&self) -> impl Iterator<Item = (&str, &Limit)> {
        let plans = self.as_request().and_then(|rule| rule.plans.as_ref());
        let limits = plans.into_iter().flat_map(|plans| &plans.limits);
        limits.map(|(plan, limit)| (plan.as_str(), limit))
    }

    /// The key of a request or descriptor with these values and no others.
    pub(super) fn key_of_values(&self, values: &[(&str, &str)], trust: &Trust) -> Result<Key, ConfigError> {
        match self {
            Self::Request(rule) => rule.key.key_of_values(values, trust),
            Self::Descriptor(rule) => rule.pattern.key_of_values(values),
        }
    }

    /// The key with this text in a store, if it can be a key of this rule.
    pub(super) fn stored_key(&self, text: &str) -> Result<Key, ConfigError> {
        match self {
            Self::Request(rule) => rule.key.stored_key(text),
            Self::Descriptor(rule) => rule.pattern.stored_key(text),
        }
    }

    pub(super) fn as_request(&self) -> Option<&RequestRule> {
        match self {
            Self::Request(rule) => Some(rule),
            Self::Descriptor(_) => None,
        }
    }

    pub(super) fn as_descriptor(&self) -> Option<&DescriptorRule> {
        match self {
            Self::Request(_) => None,
            Self::Descriptor(rule) => Some(rule),
        }
    }
}

impl DescriptorRule {
    pub(super) fn charge(&self, descriptor: &Descriptor) -> Charge {
        let charge = Charge::new(self.limit.clone(), descriptor.key()).with_cost(descriptor.cost());
        Charge {
            shadow: self.shadow,
            ..charge
        }
    }
}
