//! One limit of a rules file.

use std::collections::HashMap;

use http::{HeaderName, Request};

use super::{identity::Identity, scope::Scope, trust::Trust};
use crate::{
    charge::Charge,
    extract::KeyError,
    limit::Limit,
    policy::Bill,
    quota::{self, Cost},
};

/// A limit, the requests that it is for, whom it counts, and on which terms.
#[derive(Debug)]
pub(super) struct Tier {
    pub(super) limit: Limit,
    pub(super) scope: Scope,
    pub(super) identity: Identity,
    pub(super) plans: Option<Plans>,
    pub(super) cost: CostOf,
    pub(super) shadow: bool,
}

/// Other versions of the limit, by what a header says.
#[derive(Debug)]
pub(super) struct Plans {
    pub(super) header: HeaderName,
    pub(super) limits: HashMap<String, Limit>,
}

/// What a request costs.
#[derive(Debug)]
pub(super) enum CostOf {
    Each(Cost),
    Header(HeaderName),
}

impl Tier {
    pub(super) fn bill<B>(&self, request: &Request<B>, trust: &Trust, bill: &mut Bill) {
        match self.charge(request, trust) {
            Ok(charge) => bill.charge(charge),
            Err(error) => bill.cannot_charge(&self.limit, error),
        }
        if self.shadow {
            bill.shadow(self.limit.name());
        }
    }

    fn charge<B>(&self, request: &Request<B>, trust: &Trust) -> Result<Charge, KeyError> {
        let key = self.identity.of(request, trust)?;
        let limit = self.limit_of(request, trust)?.clone();
        Ok(Charge::new(limit, key).cost(self.cost.of(request, trust)?))
    }

    /// By the plan that the request is on; who is on none that is known has the limit itself.
    fn limit_of<B>(&self, request: &Request<B>, trust: &Trust) -> Result<&Limit, KeyError> {
        let Some(Plans { header, .. }) = &self.plans else {
            return Ok(&self.limit);
        };
        let plan = trust.header(request, header)?;
        let plan = plan.and_then(|plan| str::from_utf8(plan.as_bytes()).ok());
        Ok(plan.and_then(|plan| self.limit_on(plan)).unwrap_or(&self.limit))
    }

    /// As those on this plan have it, if there is such a plan.
    pub(super) fn limit_on(&self, plan: &str) -> Option<&Limit> {
        self.plans.as_ref()?.limits.get(plan)
    }
}

impl CostOf {
    fn of<B>(&self, request: &Request<B>, trust: &Trust) -> Result<Cost, KeyError> {
        Ok(match self {
            Self::Each(cost) => *cost,
            Self::Header(name) => {
                let value = trust.header(request, name)?;
                value.map_or(1, |value| number(value.as_bytes()).max(1))
            }
        })
    }
}

/// A whole number, as far as limits can count; 0 if it is none.
fn number(digits: &[u8]) -> Cost {
    if !digits.iter().all(u8::is_ascii_digit) {
        return 0;
    }
    let number = digits.iter().fold(0u64, |number, digit| {
        number.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
    });
    quota::bounded(number)
}
