//! The responses of the gRPC API: an overall code, a status per descriptor, and headers and body for the proxy's client.

use http::{HeaderMap, Request, Response};
use tollgate::{
    Decision, HttpResponder, Key, Outcome, Rejection, Respond, TierDecision,
    rules::{Descriptor, DescriptorRequest},
};
use tonic::Status;

use super::messages::{Code, DescriptorStatus, Duration, HeaderValue, RateLimit, RateLimitResponse, Unit};

/// Responds as [`HttpResponder`] does, in Envoy's messages.
#[derive(Clone, Debug, Default)]
pub(super) struct DescriptorResponder(HttpResponder);

/// Fixes the type parameters of the responder's implementation. Its context is whether the client uses gRPC, for which Envoy translates
/// the response.
fn http(responder: &HttpResponder) -> &impl Respond<Request<()>, Response<String>, Status, Context = bool> {
    responder
}

impl Respond<DescriptorRequest, RateLimitResponse, Status> for DescriptorResponder {
    /// The keys of the descriptors: a decision has the key of each tier.
    type Context = Vec<Key>;

    fn context(&self, request: &DescriptorRequest) -> Vec<Key> {
        request.descriptors().iter().map(Descriptor::key).collect()
    }

    fn reject(&self, keys: Vec<Key>, rejection: Rejection) -> Result<RateLimitResponse, Status> {
        let statuses = match &rejection {
            Rejection::Limited(decision) => statuses(&keys, decision),
            Rejection::Unavailable(_) => {
                return Err(Status::unavailable("the store of the rate limits is unavailable"));
            }
            // Descriptors have all keys, and rules block no requests.
            other => return Err(Status::internal(other.to_string())),
        };
        let (head, body) = http(&self.0).reject(false, rejection)?.into_parts();
        Ok(RateLimitResponse {
            overall_code: Code::OverLimit.into(),
            statuses,
            response_headers_to_add: headers(&head.headers),
            raw_body: body.into(),
        })
    }

    fn admit(&self, keys: Vec<Key>, decision: &Decision, response: &mut RateLimitResponse) {
        let mut admitted = Response::default();
        http(&self.0).admit(false, decision, &mut admitted);
        *response = RateLimitResponse {
            overall_code: Code::Ok.into(),
            statuses: statuses(&keys, decision),
            response_headers_to_add: headers(admitted.headers()),
            raw_body: Vec::new(),
        };
    }
}

fn headers(headers: &HeaderMap) -> Vec<HeaderValue> {
    let headers = headers.iter().map(|(name, value)| HeaderValue {
        key: name.as_str().to_owned(),
        value: String::from_utf8_lossy(value.as_bytes()).into_owned(),
    });
    headers.collect()
}

fn statuses(keys: &[Key], decision: &Decision) -> Vec<DescriptorStatus> {
    keys.iter().map(|key| status(key, decision)).collect()
}

/// The status of the descriptor with this key: that of its most restrictive limit.
fn status(key: &Key, decision: &Decision) -> DescriptorStatus {
    let tiers = decision
        .tiers()
        .iter()
        .filter(|tier| tier.key() == key && !tier.is_shadow());
    let Some(tier) = tiers.min_by_key(|tier| restriction(tier)) else {
        return DescriptorStatus {
            code: Code::Ok.into(),
            ..DescriptorStatus::default()
        };
    };
    let verdict = tier.verdict();
    let code = if verdict.outcome().admits() {
        Code::Ok
    } else {
        Code::OverLimit
    };
    let reset = verdict.retry_after().unwrap_or(verdict.reset_after());
    DescriptorStatus {
        code: code.into(),
        current_limit: current_limit(tier),
        limit_remaining: verdict.remaining().try_into().unwrap_or(u32::MAX),
        duration_until_reset: Some(Duration {
            seconds: reset.as_secs().try_into().unwrap_or(i64::MAX),
            nanos: reset.subsec_nanos().try_into().unwrap_or(0),
        }),
    }
}

/// Lower for a tier that restricts the client more: one that can never admit the request, else the one with the longest wait, else
/// the one with the lowest remaining quota.
fn restriction(tier: &TierDecision) -> (u8, u128) {
    let verdict = tier.verdict();
    match verdict.outcome() {
        Outcome::Impossible => (0, 0),
        outcome => match outcome.retry_after() {
            Some(wait) => (1, u128::MAX - wait.as_micros()),
            None => (2, verdict.remaining().into()),
        },
    }
}

/// The limit as it was configured. A window that is not one of Envoy's units has the unit `UNKNOWN`.
fn current_limit(tier: &TierDecision) -> Option<RateLimit> {
    let quota = tier.limit().unleased_algorithm().quota()?;
    let unit = match quota.window().as_micros() {
        1_000_000 => Unit::Second,
        60_000_000 => Unit::Minute,
        3_600_000_000 => Unit::Hour,
        86_400_000_000 => Unit::Day,
        604_800_000_000 => Unit::Week,
        _ => Unit::Unknown,
    };
    Some(RateLimit {
        requests_per_unit: quota.limit(),
        unit: unit.into(),
        name: tier.limit().name().to_owned(),
    })
}
