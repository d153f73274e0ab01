//! One limit of a rules file.

use std::collections::HashMap;

use http::{HeaderName, Request};

use super::{identity::Identity, scope::Scope, trust::Trust};
use crate::{
    charge::Charge,
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
        match self.identity.of(request, trust) {
            Ok(key) => {
                let limit = self.limit_of(request, trust).clone();
                bill.charge(Charge::new(limit, key).cost(self.cost.of(request, trust)));
            }
            Err(error) => bill.cannot_charge(&self.limit, error),
        }
        if self.shadow {
            bill.shadow(self.limit.name());
        }
    }

    /// By the plan that the request is on; who is on none that is known has the limit itself.
    fn limit_of<B>(&self, request: &Request<B>, trust: &Trust) -> &Limit {
        let plan = self.plans.as_ref().and_then(|plans| {
            let plan = trust.header(request, &plans.header)?;
            plans.limits.get(str::from_utf8(plan.as_bytes()).ok()?)
        });
        plan.unwrap_or(&self.limit)
    }
}

impl CostOf {
    fn of<B>(&self, request: &Request<B>, trust: &Trust) -> Cost {
        match self {
            Self::Each(cost) => *cost,
            Self::Header(name) => trust
                .header(request, name)
                .map_or(1, |value| number(value.as_bytes()).max(1)),
        }
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
