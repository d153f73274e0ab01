//! The header fields `RateLimit-Policy` and `RateLimit` of the IETF draft.

use std::{fmt, sync::Arc};

use http::{HeaderMap, HeaderName, HeaderValue};

use super::{super::effective_window, base64, header_values::visible};
use crate::{
    decimal::DecimalBuf,
    decision::{Decision, TierDecision},
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
        let [policy, state] = match self.draft {
            IetfDraft::Draft11 => self.lists(decision, denied_inside),
        };
        for (name, list) in [(RATELIMIT_POLICY, policy), (RATELIMIT, state)] {
            if let Ok(list) = HeaderValue::try_from(list)
                && !list.is_empty()
            {
                headers.append(name, list);
            }
        }
    }

    /// The list of policies, and that of their states. The names of limits and units need no escaping.
    fn lists(&self, decision: &Decision, denied_inside: bool) -> [Vec<u8>; 2] {
        let [mut policy, mut state] = [(); 2].map(|()| Vec::with_capacity(64));
        let is_admitted = decision.admits();
        for tier in visible(decision) {
            let algorithm = tier.limit().algorithm();
            let partition_key = self.partition_key.as_ref().and_then(|key| key(tier));
            begin(&mut policy, tier);
            number(&mut policy, b";q=", algorithm.capacity().into());
            if let Some(unit) = tier.limit().unit() {
                append(&mut policy, [b";qu=\"", unit.name().as_bytes(), b"\""]);
            }
            if let Some(window) = effective_window::policy_window(algorithm) {
                number(&mut policy, b";w=", window);
            }
            key(&mut policy, partition_key.as_deref());
            if !denied_inside && (is_admitted || !tier.passes()) {
                begin(&mut state, tier);
                number(&mut state, b";r=", effective_window::remaining(tier));
                number(&mut state, b";t=", effective_window::seconds(tier));
                key(&mut state, partition_key.as_deref());
            }
        }
        [policy, state]
    }
}

/// Begins a member of a list with the name of the limit.
fn begin(list: &mut Vec<u8>, tier: &TierDecision) {
    let separator: &[u8] = if list.is_empty() { b"\"" } else { b", \"" };
    append(list, [separator, tier.limit().name().as_bytes(), b"\""]);
}

fn number(list: &mut Vec<u8>, parameter: &[u8], value: u64) {
    append(list, [parameter, DecimalBuf::new().format(value)]);
}

/// The partition key, a byte sequence.
fn key(list: &mut Vec<u8>, partition_key: Option<&[u8]>) {
    if let Some(partition_key) = partition_key {
        append(list, [b";pk=:", &base64::padded(partition_key), b":"]);
    }
}

fn append<const N: usize>(list: &mut Vec<u8>, parts: [&[u8]; N]) {
    parts.iter().for_each(|part| list.extend_from_slice(part));
}

impl fmt::Debug for IetfHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IetfHeaders")
            .field("draft", &self.draft)
            .finish_non_exhaustive()
    }
}
