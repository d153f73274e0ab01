//! Answers to HTTP requests of whatever kind: the default of every layer.

use std::sync::Arc;

use http::{
    HeaderValue, Request, Response, StatusCode,
    header::{CONTENT_TYPE, RETRY_AFTER},
};

use super::{
    super::{Rejection, Respond},
    body::{AnswerBody, Form},
    forward::forward,
    grpc,
    headers::Headers,
};
use crate::decision::Decision;

/// Answers to HTTP requests, the default of every layer.
///
/// A request that a limit refuses is answered with 429, `Retry-After` in whole seconds (not when no time would do), and
///
/// ```json
/// {"error":"rate_limit_exceeded","message":"Too many requests. Please retry after 60 seconds.","retry_after":60}
/// ```
///
/// A request without its key is answered with 400 (what it lacks) or 500 (what the service does not provide); one
/// that a closed layer could not check, with 503; one on the deny list, with 403.
///
/// Requests of type `application/grpc` are answered as gRPC has it: 200 without a body, and in the headers `grpc-status`
/// (8 when a limit refuses, 3 or 13 without a key, 14 for 503, 7 for 403), `grpc-message`, and in place of `Retry-After`
/// `grpc-retry-pushback-ms`, which is -1 when no time would do. So one layer limits tonic services and plain routes on
/// one axum router together; for tonic's own server there is [`GrpcAnswers`](crate::GrpcAnswers).
///
/// Refusals and admitted responses alike carry two families of headers:
///
/// - `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset` speak for the tightest tier;
/// - `RateLimit-Policy: "user";q=100;w=60` and `RateLimit: "user";r=0;t=12`, of the IETF's draft, list every tier.
///
/// Layers around one another add to the lists, and the X- headers keep the smaller remaining, or speak for what refused. Tiers
/// that are unlisted or shadows are in none of them, and an unchecked decision writes none. The [`Decision`] is in the
/// request's extensions, with those of outer layers, and with axum it is an extractor.
///
/// It answers with any body that can be made from a `String`, as axum's, reqwest's and hyper's can. A layer that wraps bodies
/// in a type of its own, like compression, belongs outside of this one; axum's `Router::layer` takes any order.
///
/// ```
/// use tollgate::{AnswerBody, Global, HttpAnswers, MemoryStore, Quota, RateLimitLayer, ResetUnit};
///
/// let answers = HttpAnswers::new()
///     .header_names(["x-rate-limit-limit", "x-rate-limit-remaining", "x-rate-limit-reset"])
///     .reset_unit(ResetUnit::Delta)
///     .body(|why| AnswerBody::plain(why.to_string()));
/// let layer = RateLimitLayer::token_bucket("api", Quota::per_second(100), Global, MemoryStore::new())
///     .respond_with(answers);
/// # let _ = layer;
/// ```
#[derive(Clone, Debug)]
pub struct HttpAnswers {
    pub(super) headers: Headers,
    form: Form,
}

impl HttpAnswers {
    /// Both families of headers, a reset by the epoch, and the JSON body above.
    pub fn new() -> Self {
        Self {
            headers: Headers::default(),
            form: Form::Json,
        }
    }

    /// Bodies as problem details (RFC 9457), `application/problem+json`, of the types that the IETF's draft names.
    #[must_use]
    pub fn problem_details(self) -> Self {
        let form = Form::ProblemDetails;
        Self { form, ..self }
    }

    /// Bodies of one's own.
    #[must_use]
    pub fn body(self, body: impl Fn(&Rejection) -> AnswerBody + Send + Sync + 'static) -> Self {
        let form = Form::Own(Arc::new(body));
        Self { form, ..self }
    }
}

impl Default for HttpAnswers {
    fn default() -> Self {
        Self::new()
    }
}

impl<B, C: From<String>, E> Respond<Request<B>, Response<C>, E> for HttpAnswers {
    /// Whether the request is gRPC.
    type Context = bool;

    fn context(&self, request: &Request<B>) -> bool {
        grpc::is_grpc(request)
    }

    fn forward(&self, decision: &Decision, request: &mut Request<B>) {
        forward(decision, request);
    }

    fn reject(&self, is_grpc: bool, why: Rejection) -> Result<Response<C>, E> {
        let mut response = match is_grpc {
            true => grpc::refusal(&why, String::new()),
            false => self.refusal(&why),
        };
        self.headers.write_refusal(&why, response.headers_mut());
        Ok(response.map(C::from))
    }

    fn admit(&self, is_grpc: bool, decision: &Decision, response: &mut Response<C>) {
        let refused = match is_grpc {
            true => grpc::is_limited(response.headers()),
            false => response.status() == StatusCode::TOO_MANY_REQUESTS,
        };
        self.headers.write(decision, refused, response.headers_mut());
    }
}

impl HttpAnswers {
    fn refusal(&self, why: &Rejection) -> Response<String> {
        let AnswerBody { content_type, text } = self.form.body(why);
        let mut response = Response::new(text);
        *response.status_mut() = why.status();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, content_type);
        if let Some(seconds) = why.retry_after_secs() {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
