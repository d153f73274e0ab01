//! Meters, which read a response body while it is sent.

use axum::{body::Body, response::Response};
use http::Extensions;

/// Determines the cost of a response by its body, which it reads piece by piece, in constant memory.
///
/// [`UsageMeter`](super::UsageMeter) is the one for responses that state their cost, and the building block for one that also estimates
/// it:
///
/// ```
/// use axum::response::Response;
/// use tollgate::{BodyMeter, Header, JsonUsage, Quota, SentBody, Tier, UsageMeter};
///
/// /// Settles a stream that ends before it has stated its usage to one unit per event.
/// struct UsageOrEvents(UsageMeter);
///
/// impl BodyMeter for UsageOrEvents {
///     fn read(&mut self, data: &[u8]) {
///         self.0.read(data);
///     }
///
///     fn cost(&self, sent: &SentBody) -> Option<u64> {
///         let events = || self.0.is_event_stream().then_some(self.0.events());
///         self.0.cost(sent).or_else(events)
///     }
/// }
///
/// let usage = JsonUsage::openai();
/// let tokens = Tier::token_bucket("tokens", Quota::per_minute(100_000), Header::new("x-tenant"))
///     .meter_body(move |response: &Response| UsageOrEvents(usage.meter(response.headers())));
/// # let layer = tollgate::RateLimitLayer::new(tokens, tollgate::MemoryStore::new());
/// # let _: axum::Router = axum::Router::new().layer(layer);
/// ```
pub trait BodyMeter: Send + 'static {
    /// Reads the next piece of the body. The pieces are as the inner service sends them, so a value may be split between two.
    fn read(&mut self, data: &[u8]);

    /// The cost of a body that has ended, or ended early; `None` keeps the charge.
    fn cost(&self, sent: &SentBody) -> Option<u64>;
}

/// Makes a [`BodyMeter`] for each response.
///
/// Use [`JsonUsage`](super::JsonUsage), or a closure that takes a `&Response` and returns a meter.
#[diagnostic::on_unimplemented(
    message = "`{Self}` makes no meters of response bodies",
    note = "use `JsonUsage::openai()`, or a closure like `|response: &Response| usage.meter(response.headers())`, whose result \
            implements `BodyMeter`"
)]
pub trait MeterBody {
    /// The meter of one response.
    type Meter: BodyMeter;

    /// A meter for this response, whose body follows.
    fn meter(&self, response: &Response) -> Self::Meter;
}

#[diagnostic::do_not_recommend]
impl<F, M> MeterBody for F
where
    F: Fn(&Response<Body>) -> M,
    M: BodyMeter,
{
    type Meter = M;

    fn meter(&self, response: &Response) -> M {
        self(response)
    }
}

/// The part of a response that was handed on to the client's connection, known when its body ends.
#[derive(Debug)]
pub struct SentBody {
    pub(super) bytes: u64,
    pub(super) is_complete: bool,
    pub(super) charged: u64,
    pub(super) extensions: Extensions,
}

impl SentBody {
    /// The number of bytes of the body, without trailers.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether the body was handed on to its end. Otherwise it failed, or it was dropped, usually because the client disconnected.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The cost that the request was charged.
    pub fn charged(&self) -> u64 {
        self.charged
    }

    /// The extensions of the response. A handler can put a counter there that its body increments.
    pub fn extensions(&self) -> &Extensions {
        &self.extensions
    }
}
