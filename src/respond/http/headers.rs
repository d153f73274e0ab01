//! What a decision adds to HTTP messages: headers to the response, and itself to the request's extensions.

use http::{
    HeaderMap, HeaderName, HeaderValue, Request,
    header::{ACCEPT_ENCODING, Entry},
};

use super::{
    super::Rejection,
    header_values::{self, ResetUnit, visible},
    ietf::IetfHeaders,
};
use crate::{
    decimal,
    decision::{Decision, DecisionExtension, TierDecision},
    limit::Limit,
    time::{Micros, SECOND},
};

const X_RATELIMIT_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const X_RATELIMIT_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const X_RATELIMIT_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// The X- headers, those of the draft, and the `Content-Length` that axum adds afterwards. They do not fit into the map of most responses,
/// which is cheaper to grow before it has them.
const ADDED_HEADERS: usize = 6;

/// The header settings of a responder.
#[derive(Clone, Debug)]
pub(super) struct Headers {
    pub(super) names: HeaderNames,
    pub(super) per_tier: bool,
    pub(super) reset: ResetUnit,
    pub(super) ietf: Option<IetfHeaders>,
}

/// The names of the limit, remaining and reset headers of the `X-RateLimit` family.
#[derive(Clone, Debug)]
pub(super) enum HeaderNames {
    None,
    Default,
    Custom([HeaderName; 3]),
}

impl HeaderNames {
    /// Creates the default names instead of storing them, because that is faster than cloning.
    fn all(&self) -> Option<[HeaderName; 3]> {
        match self {
            Self::None => None,
            Self::Default => Some([X_RATELIMIT_LIMIT, X_RATELIMIT_REMAINING, X_RATELIMIT_RESET]),
            Self::Custom(names) => Some(names.clone()),
        }
    }
}

impl Default for Headers {
    fn default() -> Self {
        Self {
            names: HeaderNames::Default,
            per_tier: false,
            reset: ResetUnit::default(),
            ietf: Some(IetfHeaders::default()),
        }
    }
}

impl Headers {
    /// Writes the headers of a denial. Other rejections have none.
    pub(super) fn write_rejection(&self, rejection: &Rejection, headers: &mut HeaderMap) {
        if let Rejection::Limited(decision) = rejection {
            self.write(decision, false, headers);
        }
    }

    /// Writes the headers of a decision. If an inner layer denied the request, its X- headers are kept.
    pub(super) fn write(&self, decision: &Decision, denied_inside: bool, headers: &mut HeaderMap) {
        if self.ietf.is_some() {
            // Only a hint: if the map is full, the inserts fail.
            let _ = headers.try_reserve(ADDED_HEADERS);
        }
        match (&self.names, self.per_tier) {
            (HeaderNames::None, _) => {}
            (_, false) => {
                if let Some(tier) = header_values::most_restrictive(decision) {
                    self.write_tier(tier, decision, denied_inside, headers);
                }
            }
            (_, true) => visible(decision).for_each(|tier| self.write_tier(tier, decision, denied_inside, headers)),
        }
        if let Some(ietf) = &self.ietf {
            ietf.write(decision, denied_inside, headers);
        }
    }

    /// Writes the X- headers of a tier. Keeps those of an inner layer if its remaining quota is lower, or if it denied the request,
    /// since a denying tier has quota left if the request costs more.
    fn write_tier(&self, tier: &TierDecision, decision: &Decision, denied_inside: bool, headers: &mut HeaderMap) {
        let [limit, remaining, reset] = match self.names.all() {
            None => return,
            Some(names) if self.per_tier => names.map(|name| suffixed(&name, tier)),
            Some(names) => names,
        };
        let left = tier.verdict().remaining();
        match headers.entry(remaining) {
            Entry::Occupied(inner) if denied_inside || parse(inner.get()).is_some_and(|inner| inner <= left) => return,
            Entry::Occupied(mut inner) => drop(inner.insert(number(left))),
            Entry::Vacant(vacant) => drop(vacant.insert(number(left))),
        }
        headers.insert(limit, capacity(tier.limit()).clone());
        let wait = header_values::wait(tier);
        let value = match self.reset {
            ResetUnit::Epoch => number((decision.now() + wait).div_ceil(SECOND)),
            ResetUnit::Delta => number(wait.div_ceil(SECOND)),
            ResetUnit::Duration => duration(wait),
        };
        headers.insert(reset, value);
    }
}

/// The name of a tier's own header. The characters of a tier's name are valid in it.
fn suffixed(name: &HeaderName, tier: &TierDecision) -> HeaderName {
    let name = format!("{name}-{}", tier.limit().name());
    HeaderName::try_from(name).expect("the characters are valid in a header's name")
}

fn parse(value: &HeaderValue) -> Option<u64> {
    value.to_str().ok()?.parse().ok()
}

/// The capacity of a limit, which all responses share.
fn capacity(limit: &Limit) -> &HeaderValue {
    limit.header_capacity(|| number(limit.algorithm().capacity().into()))
}

/// A number as a header's value. Numbers below 1000, the most frequent ones, are not allocated.
#[inline]
fn number(number: u64) -> HeaderValue {
    match number {
        0..1000 => HeaderValue::from_static(decimal::below_1000(number as usize)),
        _ => allocated(number),
    }
}

/// Ten digits, which a time in seconds has, are allocated once as a `u32`: the buffer for one has this size.
#[inline(never)]
fn allocated(number: u64) -> HeaderValue {
    u32::try_from(number).map_or_else(|_| number.into(), HeaderValue::from)
}

/// A duration in hours, minutes, seconds and milliseconds, rounded up: `6m0s`, `1.5s`, `20ms`.
fn duration(wait: Micros) -> HeaderValue {
    let millis = wait.div_ceil(SECOND / 1000);
    let (seconds, fraction) = (millis / 1000, millis % 1000);
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let mut text = match (hours, minutes, seconds) {
        (0, 0, 0) if fraction > 0 => format!("{fraction}ms"),
        (0, 0, seconds) => format!("{seconds}.{fraction:03}"),
        (0, minutes, seconds) => format!("{minutes}m{}.{fraction:03}", seconds % 60),
        (hours, minutes, seconds) => format!("{hours}h{minutes}m{}.{fraction:03}", seconds % 60),
    };
    if !text.ends_with("ms") {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
        text.push('s');
    }
    HeaderValue::try_from(text).expect("digits and units are valid in a header")
}

/// Inserts the decision into the request's extensions, after the tiers of outer layers. If the body of the response will be read, asks
/// for one that is not compressed.
pub(super) fn forward<B>(decision: &Decision, request: &mut Request<B>) {
    if decision.reads_body() {
        let identity = HeaderValue::from_static("identity");
        request.headers_mut().insert(ACCEPT_ENCODING, identity);
    }
    let extensions = request.extensions_mut();
    if let Some(outer) = extensions.insert(DecisionExtension::new(decision)) {
        extensions.insert(DecisionExtension::new(decision).with_outer_tiers(&outer));
    }
}

#[cfg(test)]
mod tests;
