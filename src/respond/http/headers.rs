//! What a decision adds to HTTP messages: headers to the response, and itself to the request's extensions.

use http::{HeaderMap, HeaderName, HeaderValue, Request, header::Entry};

use super::{
    super::Rejection,
    header_values::{self, ResetUnit},
    ietf::IetfHeaders,
};
use crate::{
    decimal::{self, DecimalBuf},
    decision::{Decision, DecisionExtension},
};

const X_RATELIMIT_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const X_RATELIMIT_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const X_RATELIMIT_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// The header settings of a responder.
#[derive(Clone, Debug)]
pub(super) struct Headers {
    pub(super) names: HeaderNames,
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
        if let Some(names) = self.names.all() {
            write_most_restrictive(names, self.reset, decision, denied_inside, headers);
        }
        if let Some(ietf) = &self.ietf {
            ietf.write(decision, denied_inside, headers);
        }
    }
}

/// Writes the X- headers of the most restrictive tier. Keeps those of an inner layer if its remaining quota is lower, or if it
/// denied the request, since a denying tier has quota left if the request costs more.
fn write_most_restrictive(
    names: [HeaderName; 3],
    unit: ResetUnit,
    decision: &Decision,
    denied_inside: bool,
    headers: &mut HeaderMap,
) {
    let Some(tier) = header_values::most_restrictive(decision) else {
        return;
    };
    let [limit, remaining, reset] = names;
    let left = tier.verdict().remaining();
    match headers.entry(remaining) {
        Entry::Occupied(inner) if denied_inside || parse(inner.get()).is_some_and(|inner| inner <= left) => return,
        Entry::Occupied(mut inner) => drop(inner.insert(number(left))),
        Entry::Vacant(vacant) => drop(vacant.insert(number(left))),
    }
    headers.insert(limit, number(tier.limit().algorithm().capacity().into()));
    headers.insert(reset, number(header_values::reset(tier, decision.now(), unit)));
}

fn parse(value: &HeaderValue) -> Option<u64> {
    value.to_str().ok()?.parse().ok()
}

/// A number as a header's value. Numbers below 1000, the most frequent ones, are not allocated.
fn number(number: u64) -> HeaderValue {
    match number {
        0..1000 => HeaderValue::from_static(decimal::below_1000(number as usize)),
        _ => HeaderValue::try_from(DecimalBuf::new().format(number).to_vec()).expect("digits are valid in a header"),
    }
}

/// Inserts the decision into the request's extensions, after the tiers of outer layers.
pub(super) fn forward<B>(decision: &Decision, request: &mut Request<B>) {
    let extensions = request.extensions_mut();
    if let Some(outer) = extensions.insert(DecisionExtension::new(decision)) {
        extensions.insert(DecisionExtension::new(decision).with_outer_tiers(&outer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_formatted_like_display() {
        for value in [0, 9, 10, 99, 100, 999, 1000, 1001, 9_999_999_999, u64::MAX] {
            assert_eq!(number(value), value.to_string());
        }
    }
}
