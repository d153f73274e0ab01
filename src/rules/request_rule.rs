//! A rule for HTTP requests.

use std::collections::HashMap;

use http::{HeaderName, Request};

use super::{key_spec::KeySpec, outcome::OutcomeSpec, scope::Scope, trust::Trust};
use crate::{
    charge::Charge,
    extract::KeyError,
    limit::Limit,
    policy::ChargeBuilder,
    quota::{self, Cost},
};

/// A limit with its scope, key, plans, cost and outcome.
#[derive(Debug)]
pub(super) struct RequestRule {
    pub(super) limit: Limit,
    pub(super) scope: Scope,
    pub(super) key: KeySpec,
    pub(super) plans: Option<Plans>,
    pub(super) cost: CostSpec,
    pub(super) outcome: OutcomeSpec,
    pub(super) shadow: bool,
}

/// Variants of the limit, selected by the value of a header.
#[derive(Debug)]
pub(super) struct Plans {
    pub(super) header: HeaderName,
    pub(super) limits: HashMap<String, Limit>,
}

/// The cost of a request.
#[derive(Debug)]
pub(super) enum CostSpec {
    Fixed(Cost),
    Header(HeaderName),
}

impl RequestRule {
    pub(super) fn push_charge<B>(&self, request: &Request<B>, trust: &Trust, charges: &mut ChargeBuilder) {
        match self.charge(request, trust) {
            Ok(Some(charge)) => charges.push(charge),
            Ok(None) => {}
            // A shadow rejects no request.
            Err(_) if self.shadow => {}
            Err(error) => charges.push_missing_key(error),
        }
    }

    /// The charge of the request, or `None` if it lacks an optional key.
    fn charge<B>(&self, request: &Request<B>, trust: &Trust) -> Result<Option<Charge>, KeyError> {
        let Some(key) = self.key.extract_optional(request, trust)? else {
            return Ok(None);
        };
        let limit = self.limit_of(request, trust)?.clone();
        let charge = Charge::new(limit, key).with_cost(self.cost.of(request, trust)?);
        Ok(Some(Charge {
            shadow: self.shadow,
            settling: self.outcome.settling(),
            ..charge
        }))
    }

    /// The limit of the request's plan, or the rule's own limit without a known plan.
    fn limit_of<B>(&self, request: &Request<B>, trust: &Trust) -> Result<&Limit, KeyError> {
        let Some(Plans { header, .. }) = &self.plans else {
            return Ok(&self.limit);
        };
        let plan = trust.header(request, header)?.next();
        let plan = plan.and_then(|plan| str::from_utf8(plan.as_bytes()).ok());
        Ok(plan.and_then(|plan| self.limit_on(plan)).unwrap_or(&self.limit))
    }

    /// The limit of a plan, if it exists.
    pub(super) fn limit_on(&self, plan: &str) -> Option<&Limit> {
        self.plans.as_ref()?.limits.get(plan)
    }
}

impl CostSpec {
    fn of<B>(&self, request: &Request<B>, trust: &Trust) -> Result<Cost, KeyError> {
        Ok(match self {
            Self::Fixed(cost) => *cost,
            Self::Header(name) => {
                let value = trust.header(request, name)?.next();
                value.map_or(1, |value| parse_cost(value.as_bytes()).max(1))
            }
        })
    }
}

/// Parses decimal digits, saturating at the maximum cost; 0 if the text is not a number.
fn parse_cost(digits: &[u8]) -> Cost {
    if !digits.iter().all(u8::is_ascii_digit) {
        return 0;
    }
    let number = digits.iter().fold(0u64, |number, digit| {
        number.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
    });
    quota::bounded(number)
}
