//! The headers that tell clients how much is left.

use http::{HeaderMap, HeaderName, HeaderValue, header::Entry};

use super::{
    super::Rejection,
    fields::{self, ResetUnit},
};
use crate::{
    decision::Decision,
    digits::{self, Digits},
};

const X_RATELIMIT_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const X_RATELIMIT_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const X_RATELIMIT_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
const RATELIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATELIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Which headers are written, and how.
#[derive(Clone, Debug)]
pub(super) struct Headers {
    pub(super) names: Names,
    pub(super) reset: ResetUnit,
    pub(super) ietf: bool,
}

/// What limit, remaining and reset of the X- family are called, if it is written.
#[derive(Clone, Debug)]
pub(super) enum Names {
    None,
    Usual,
    Own([HeaderName; 3]),
}

impl Names {
    /// The usual ones are made where they are needed, which is quicker than to clone them.
    fn all(&self) -> Option<[HeaderName; 3]> {
        match self {
            Self::None => None,
            Self::Usual => Some([X_RATELIMIT_LIMIT, X_RATELIMIT_REMAINING, X_RATELIMIT_RESET]),
            Self::Own(names) => Some(names.clone()),
        }
    }
}

impl Default for Headers {
    fn default() -> Self {
        Self {
            names: Names::Usual,
            reset: ResetUnit::default(),
            ietf: true,
        }
    }
}

impl Headers {
    /// Where it was not a limit that refused, there is nothing to tell of limits.
    pub(super) fn write_refusal(&self, why: &Rejection, headers: &mut HeaderMap) {
        if let Rejection::Limited(decision) = why {
            self.write(decision, false, headers);
        }
    }

    /// Tells what is left. Where an inner layer has refused the request, that one has spoken.
    pub(super) fn write(&self, decision: &Decision, refused: bool, headers: &mut HeaderMap) {
        if let Some(names) = self.names.all() {
            write_tightest(names, self.reset, decision, refused, headers);
        }
        if self.ietf {
            write_lists(decision, headers);
        }
    }
}

/// Speaks for one tier, unless an inner layer has already spoken for one with less left, or for the one that refused, which
/// may have had something left if the request cost more.
fn write_tightest(
    names: [HeaderName; 3],
    unit: ResetUnit,
    decision: &Decision,
    refused: bool,
    headers: &mut HeaderMap,
) {
    let Some(tier) = fields::tightest(decision) else { return };
    let [limit, remaining, reset] = names;
    let left = tier.verdict().remaining();
    match headers.entry(remaining) {
        Entry::Occupied(told) if refused || parsed(told.get()).is_some_and(|told| told <= left) => return,
        Entry::Occupied(mut told) => drop(told.insert(number(left))),
        Entry::Vacant(untold) => drop(untold.insert(number(left))),
    }
    headers.insert(limit, number(tier.limit().rule().capacity().into()));
    headers.insert(reset, number(fields::reset(tier, decision.now(), unit)));
}

fn parsed(value: &HeaderValue) -> Option<u64> {
    value.to_str().ok()?.parse().ok()
}

/// A number as a header's value. Small ones, which most are, take no memory.
fn number(number: u64) -> HeaderValue {
    match number {
        0..1000 => HeaderValue::from_static(digits::below_1000(number as usize)),
        _ => HeaderValue::try_from(Digits::new().of(number).to_vec()).expect("digits may be in a header"),
    }
}

/// The structured fields of the IETF's draft: lists, so that what inner layers wrote stays beside it.
fn write_lists(decision: &Decision, headers: &mut HeaderMap) {
    let [policy, state] = lists(decision);
    for (name, list) in [(RATELIMIT_POLICY, policy), (RATELIMIT, state)] {
        if let Ok(list) = HeaderValue::try_from(list)
            && !list.is_empty()
        {
            headers.append(name, list);
        }
    }
}

/// A member per tier, of what it allows and of what is left. The names of limits need no escapes.
fn lists(decision: &Decision) -> [Vec<u8>; 2] {
    let [mut policy, mut state] = [(); 2].map(|()| Vec::with_capacity(64));
    for tier in fields::listed(decision) {
        let (name, rule) = (tier.limit().name().as_bytes(), tier.limit().rule());
        let separator: &[u8] = if policy.is_empty() { b"" } else { b", " };
        let (limit, left) = (rule.capacity().into(), tier.verdict().remaining());
        add(&mut policy, [separator, b"\"", name, b"\";q=", Digits::new().of(limit)]);
        if let Some(window) = fields::window(rule) {
            add(&mut policy, [b";w=", Digits::new().of(window)]);
        }
        add(&mut state, [separator, b"\"", name, b"\";r=", Digits::new().of(left)]);
        add(&mut state, [b";t=", Digits::new().of(fields::more_in(tier))]);
    }
    [policy, state]
}

fn add<const N: usize>(list: &mut Vec<u8>, pieces: [&[u8]; N]) {
    pieces.iter().for_each(|piece| list.extend_from_slice(piece));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_reads_as_it_displays() {
        for told in [0, 9, 10, 99, 100, 999, 1000, 1001, 9_999_999_999, u64::MAX] {
            assert_eq!(number(told), told.to_string());
        }
    }
}
