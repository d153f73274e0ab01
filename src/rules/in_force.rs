//! Rules as they are in force: what a request is charged.

use http::Request;

use super::{scope::Scope, tier::Tier, trust::Trust};
use crate::{
    extract::Within,
    invalid::Invalid,
    key::Key,
    limit::Limit,
    policy::{Bill, Standing},
};

#[derive(Debug)]
pub(super) struct Rules {
    /// What they were read from.
    pub(super) text: Box<str>,
    pub(super) tiers: Vec<Tier>,
    pub(super) exemptions: Vec<Exemption>,
    pub(super) trust: Trust,
}

/// Requests that are not counted.
#[derive(Debug)]
pub(super) struct Exemption {
    pub(super) scope: Scope,
    pub(super) networks: Option<Within>,
}

impl Rules {
    pub(super) fn bill<B>(&self, request: &Request<B>, bill: &mut Bill) {
        let exempts = |exemption: &Exemption| exemption.covers(request, &self.trust);
        if self.exemptions.iter().any(exempts) {
            return bill.stands(Ok(Standing::Exempt));
        }
        let tiers = self.tiers.iter().filter(|tier| tier.scope.covers(request));
        tiers.for_each(|tier| tier.bill(request, &self.trust, bill));
    }

    /// The limit of this name, on this plan if one is given.
    pub(super) fn limit(&self, name: &str, plan: Option<&str>) -> Option<&Limit> {
        let tier = self.tier(name)?;
        match plan {
            Some(plan) => tier.limit_on(plan),
            None => Some(&tier.limit),
        }
    }

    /// The key of the limit of this name that has these values.
    pub(super) fn key(&self, name: &str, values: &[(&str, &str)]) -> Result<Key, Invalid> {
        self.tier_named(name)?.identity.of_values(values, &self.trust)
    }

    /// The key of the limit of this name that stores have under this text.
    pub(super) fn stored_key(&self, name: &str, text: &str) -> Result<Key, Invalid> {
        self.tier_named(name)?.identity.of_stored(text)
    }

    fn tier_named(&self, name: &str) -> Result<&Tier, Invalid> {
        self.tier(name).ok_or_else(|| {
            let names: Vec<_> = self.tiers.iter().map(|tier| tier.limit.name()).collect();
            let must = format!("be one of {}", names.join(", "));
            Invalid::new("limit", format_args!("{name:?}"), must)
        })
    }

    fn tier(&self, name: &str) -> Option<&Tier> {
        self.tiers.iter().find(|tier| tier.limit.name() == name)
    }
}

impl Exemption {
    fn covers<B>(&self, request: &Request<B>, trust: &Trust) -> bool {
        let networks = self.networks.as_ref();
        self.scope.covers(request) && networks.is_none_or(|networks| trust.is_within(networks, request))
    }
}
