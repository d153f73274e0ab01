//! The details of a gRPC status: a `google.rpc.Status` message in the header `grpc-status-details-bin`.
//!
//! It contains a `RetryInfo`, without which OTLP exporters drop the data of a denied call, and a `QuotaFailure` that names the limits.
//! The messages are few and small, so they are encoded here instead of by a protobuf crate.

use http::HeaderValue;

use super::{
    super::{Rejection, effective_window},
    base64, header_values,
};
use crate::decision::TierDecision;

/// The details of a rejection as the value of a binary header; `None` if there is nothing to add to its code and message.
pub(super) fn details(code: u16, rejection: &Rejection) -> Option<HeaderValue> {
    let details = [quota_failure(rejection), retry_info(rejection)];
    if details.iter().all(Option::is_none) {
        return None;
    }
    let mut status = Message::default();
    status.integer(1, code.into());
    status.bytes(2, rejection.to_string().as_bytes());
    for detail in details.into_iter().flatten() {
        status.bytes(3, &detail.0);
    }
    Some(HeaderValue::try_from(base64::unpadded(&status.0)).expect("base64 is valid in a header"))
}

/// `RetryInfo`, in an `Any`: the time until a retry can succeed. `None` if no wait suffices.
fn retry_info(rejection: &Rejection) -> Option<Message> {
    let wait = rejection.retry_after()?;
    let mut duration = Message::default();
    duration.integer(1, wait.as_secs());
    duration.integer(2, wait.subsec_nanos().into());
    let mut info = Message::default();
    info.bytes(1, &duration.0);
    Some(info.into_any("type.googleapis.com/google.rpc.RetryInfo"))
}

/// `QuotaFailure`, in an `Any`: the visible limits that denied the request. `None` if there are none.
fn quota_failure(rejection: &Rejection) -> Option<Message> {
    let Rejection::Limited(decision) = rejection else {
        return None;
    };
    let mut failure = Message::default();
    let denied = |tier: &&TierDecision| !tier.verdict().outcome().admits();
    for tier in header_values::visible(decision).filter(denied) {
        let (limit, algorithm) = (tier.limit(), tier.limit().algorithm());
        let window = effective_window::policy_window(algorithm);
        let window = window.map_or_else(String::new, |seconds| format!(" in {seconds} s"));
        let mut violation = Message::default();
        violation.bytes(1, limit.name().as_bytes());
        violation.bytes(2, format!("more than {}{window}", algorithm.capacity()).as_bytes());
        failure.bytes(1, &violation.0);
    }
    (!failure.0.is_empty()).then(|| failure.into_any("type.googleapis.com/google.rpc.QuotaFailure"))
}

/// A message in protobuf's encoding.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    /// Adds an integer field. Zero is the default, which is not encoded.
    fn integer(&mut self, field: u64, value: u64) {
        if value != 0 {
            self.varint(field << 3);
            self.varint(value);
        }
    }

    /// Adds a field of bytes, a text, or a message.
    fn bytes(&mut self, field: u64, value: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
    }

    /// Seven bits per byte, the lowest first; the highest bit is set in all bytes but the last.
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// The `Any` that contains this message.
    fn into_any(self, type_url: &str) -> Self {
        let mut any = Self::default();
        any.bytes(1, type_url.as_bytes());
        any.bytes(2, &self.0);
        any
    }
}
