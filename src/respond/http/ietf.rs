//! The header fields `RateLimit-Policy` and `RateLimit` of the IETF draft.

use std::{fmt, sync::Arc};

use http::{HeaderMap, HeaderName, HeaderValue};

use super::{super::effective_window, base64, header_list::List, header_values::visible};
use crate::{
    decision::{Decision, TierDecision},
    limit::Limit,
    quota::QuotaUnit,
};

const RATELIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATELIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// The version of the IETF draft that defines `RateLimit-Policy` and `RateLimit`. The meaning of its parameters has changed from
/// version to version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum IetfDraft {
    /// draft-ietf-httpapi-ratelimit-headers-11, of May 2026. `t` is the effective window: the seconds in which no more than `r` may
    /// be used.
    #[default]
    Draft11,
}

/// Returns the partition key of a tier's policy, if it has one.
type PartitionKey = Arc<dyn Fn(&TierDecision) -> Option<Vec<u8>> + Send + Sync>;

/// Writes the fields of one version of the draft.
#[derive(Clone, Default)]
pub(super) struct IetfHeaders {
    pub(super) draft: IetfDraft,
    pub(super) partition_key: Option<PartitionKey>,
}

impl IetfHeaders {
    /// Appends the fields. They are lists, so the members of inner layers are kept. `RateLimit` reports the tiers that denied the
    /// request, so that it agrees with `Retry-After`, and nothing of a layer around the one that did.
    pub(super) fn write(&self, decision: &Decision, denied_inside: bool, headers: &mut HeaderMap) {
        match self.draft {
            IetfDraft::Draft11 => {
                if let Some(policies) = self.policies(decision) {
                    headers.append(RATELIMIT_POLICY, policies);
                }
                if let Some(states) = self.states(decision, denied_inside) {
                    headers.append(RATELIMIT, states);
                }
            }
        }
    }

    /// The policies of the tiers. That of a single tier is shared by all responses.
    fn policies(&self, decision: &Decision) -> Option<HeaderValue> {
        let mut tiers = visible(decision);
        if let (Some(only), None, None) = (tiers.next(), tiers.next(), &self.partition_key) {
            return Some(policy(only.limit()).clone());
        }
        let mut list = List::default();
        for tier in visible(decision) {
            list.begin_member(policy(tier.limit()).as_bytes());
            self.append_key(&mut list, tier);
        }
        list.into_value()
    }

    /// The states of the tiers: what remains, and the effective window.
    fn states(&self, decision: &Decision, denied_inside: bool) -> Option<HeaderValue> {
        if denied_inside {
            return None;
        }
        let (mut list, is_admitted) = (List::default(), decision.admits());
        for tier in visible(decision).filter(|tier| is_admitted || !tier.passes()) {
            let quoted_name = ..tier.limit().name().len() + 2;
            list.begin_member(&policy(tier.limit()).as_bytes()[quoted_name]);
            list.append_number(b";r=", effective_window::remaining(tier));
            if let Some(seconds) = effective_window::seconds(tier) {
                list.append_number(b";t=", seconds);
            }
            self.append_key(&mut list, tier);
        }
        list.into_value()
    }

    /// The partition key of a tier, a byte sequence.
    #[inline]
    fn append_key(&self, list: &mut List, tier: &TierDecision) {
        if let Some(key) = self.partition_key.as_ref().and_then(|key| key(tier)) {
            list.append_all([b";pk=:", &base64::padded(&key), b":"]);
        }
    }
}

/// The policy of a limit, built once. The names of limits and units need no escaping.
fn policy(limit: &Limit) -> &HeaderValue {
    limit.header_policy(|| {
        let (mut policy, algorithm) = (List::default(), limit.algorithm());
        policy.append_all([b"\"", limit.name().as_bytes(), b"\""]);
        policy.append_number(b";q=", algorithm.capacity().into());
        let default_unit = algorithm.is_concurrency().then_some(&QuotaUnit::CONCURRENT_REQUESTS);
        if let Some(unit) = limit.unit().or(default_unit) {
            policy.append_all([b";qu=\"", unit.name().as_bytes(), b"\""]);
        }
        if let Some(window) = effective_window::policy_window(algorithm) {
            policy.append_number(b";w=", window);
        }
        policy.into_value().expect("it begins with the name")
    })
}

impl fmt::Debug for IetfHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IetfHeaders")
            .field("draft", &self.draft)
            .finish_non_exhaustive()
    }
}
