//! Meters of response bodies, without a server: what they read in texts that arrive in pieces.

mod event_streams;
mod json;

use axum::http::{HeaderMap, HeaderValue, header::CONTENT_TYPE};
use proptest::prelude::*;
use tollgate::{BodyMeter, JsonUsage, UsageMeter};

/// A meter that has read a body of this type, in pieces that end at these positions.
fn read(usage: &JsonUsage, content_type: &'static str, body: &[u8], ends: &[usize]) -> UsageMeter {
    let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(content_type))]);
    let mut meter = usage.meter(&headers);
    let mut start = 0;
    for end in ends.iter().copied().chain([body.len()]) {
        meter.read(&body[start..end]);
        start = end;
    }
    meter
}

/// A text, and positions at which it may be split.
fn with_ends(text: impl Strategy<Value = String>) -> impl Strategy<Value = (String, Vec<usize>)> {
    text.prop_flat_map(|text| {
        let ends = proptest::collection::vec(0..=text.len(), 0..8);
        (
            Just(text),
            ends.prop_map(|mut ends| {
                ends.sort_unstable();
                ends
            }),
        )
    })
}
