//! The limits: requests, tokens and concurrent requests, per API key and model.

use std::time::Duration;

use axum::{extract::Request, response::Response};
use tollgate::{
    ApiKey, BodyMeter, BoxRateLimitLayer, FixedWindow, FromExtension, HttpResponder, JsonUsage, Key, Quota, QuotaUnit,
    RateLimitLayer, Rejection, RejectionBody, ResetUnit, SentBody, Store, Tier, UsageMeter,
};

use crate::{
    api_error,
    chat_request::{Estimate, Model},
};

#[derive(Debug)]
pub(crate) struct Limits {
    pub(crate) requests: u32,
    pub(crate) tokens: u32,
    pub(crate) in_flight: u32,
    /// The time in which the requests and the tokens are admitted.
    pub(crate) window: Duration,
}

impl Limits {
    /// All three are charged, or none: a request that the tokens do not suffice for does not count as a request.
    pub(crate) fn layer<St: Store>(&self, store: St) -> BoxRateLimitLayer<Request, Response, St> {
        // The upstream rejects unknown API keys and models. A service that has accounts of its own verifies them in an outer layer.
        let model = FromExtension::new(|model: &Model| Key::named("model", &model.0));
        let key = (ApiKey::bearer(), model);
        // The window begins with the first request, so that what remains is the limit less the usage. A token bucket would admit
        // smaller bursts.
        let per_window = |limit| FixedWindow::new(Quota::new(limit, self.window)).anchored();

        let requests = Tier::new("requests", per_window(self.requests), key.clone());
        let usage = JsonUsage::openai();
        let tokens = Tier::new("tokens", per_window(self.tokens), key.clone())
            .quota_unit(QuotaUnit::new("tokens"))
            .cost(|request: &Request| {
                let estimate = request.extensions().get::<Estimate>()?;
                Some(estimate.prompt.saturating_add(estimate.max_tokens))
            })
            .refund_if(|response: &Response| !response.status().is_success())
            .meter_body(move |response: &Response| TokenMeter {
                usage: usage.meter(response.headers()),
                estimate: response.extensions().get().copied(),
            });
        // Hidden, since OpenAI's API has no header for it.
        let in_flight = Tier::concurrency("in-flight", self.in_flight, key).hidden();
        RateLimitLayer::new(requests, store)
            .tier(tokens)
            .tier(in_flight)
            .respond_with(responder())
            .boxed()
    }
}

/// Settles a request to the usage that its answer states.
///
/// A stream that breaks off before that is settled to the estimate of the prompt and one token for each event that was handed on, but
/// not to more than was reserved. Some events have no token, and some APIs send several tokens in one event; for a model that reasons
/// without sending what it thinks, keep what was reserved. Any other answer keeps it, too: one that does not state its usage, one that is compressed, and one whose client disconnects before it begins.
struct TokenMeter {
    usage: UsageMeter,
    estimate: Option<Estimate>,
}

impl BodyMeter for TokenMeter {
    fn read(&mut self, data: &[u8]) {
        self.usage.read(data);
    }

    fn cost(&self, sent: &SentBody) -> Option<u64> {
        let is_broken_off = self.usage.is_event_stream() && !sent.is_complete();
        match self.usage.usage() {
            None if is_broken_off => Some((self.estimate?.prompt + self.usage.events()).min(sent.charged())),
            usage => usage,
        }
    }
}

/// Writes the headers and the errors of OpenAI's API: `x-ratelimit-remaining-tokens: 994`, `x-ratelimit-reset-tokens: 59.7s`. If the
/// upstream has such limits too, the response has the headers of the one with less remaining.
fn responder() -> HttpResponder {
    HttpResponder::new()
        .x_headers_per_tier()
        .reset_unit(ResetUnit::Duration)
        .body(|rejection| {
            let (kind, code) = match rejection {
                Rejection::Limited(decision) => {
                    let denies = |name| {
                        let mut tiers = decision.tiers().iter();
                        tiers.any(|tier| tier.limit().name() == name && !tier.verdict().outcome().admits())
                    };
                    let kind = if denies("tokens") { "tokens" } else { "requests" };
                    (kind, Some("rate_limit_exceeded"))
                }
                _ => (api_error::kind(rejection.status()), None),
            };
            RejectionBody::json(api_error::body(&rejection.to_string(), kind, code).to_string())
        })
}
