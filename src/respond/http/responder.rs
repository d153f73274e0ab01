//! The default responder, for HTTP and gRPC requests.

use std::{fmt, sync::Arc};

use http::{
    HeaderValue, Request, Response, StatusCode,
    header::{CONTENT_TYPE, RETRY_AFTER},
};

use super::{
    super::{Rejection, Respond},
    body::{BodyFormat, RejectionBody},
    denial,
    grpc::{self, GrpcResponder},
    header_values::ResetUnit,
    headers::{HeaderNames, Headers, forward},
    held_body::{forward_permit, hold},
    ietf::IetfDraft,
};
use crate::{
    config_error::{self, ConfigError},
    decision::{Decision, TierDecision},
    extract::header_name,
    permit::Permit,
};

/// Responds to HTTP requests; the default of every layer.
///
/// A request that a limit denies is rejected with 429, `Retry-After` in whole seconds (unless no wait suffices), and
///
/// ```json
/// {"error":"rate_limit_exceeded","message":"Too many requests. Please retry after 60 seconds.","retry_after":60}
/// ```
///
/// A request without a key is rejected with 400 (the client omitted a value, or sent several different ones) or 500 (the service
/// does not provide one), a request that a fail-closed layer could not check with 503, and a blocked request with 403.
///
/// Requests with the content type `application/grpc` get a gRPC response: 200 without a body, with the headers `grpc-status`
/// (8 if a limit denies, 3 or 13 without a key, 14 for 503, 7 for 403), `grpc-message`, and instead of `Retry-After`
/// `grpc-retry-pushback-ms`, which is -1 if no wait suffices. `grpc-status-details-bin` has a `RetryInfo`, unless no wait suffices,
/// and a `QuotaFailure` that names the limits which denied: OpenTelemetry exporters, for example, drop their data without the
/// former. One layer thus limits tonic services and plain routes on one axum router; for tonic's own server, use
/// [`GrpcResponder`](crate::GrpcResponder). gRPC-Web and Connect requests get the HTTP response, whose status their clients map to
/// a code. [The guide](crate::guide::headers) has every header on one page.
///
/// Denials and responses to admitted requests carry two families of headers:
///
/// - `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset` describe the most restrictive tier;
/// - `RateLimit-Policy: "user";q=100;w=60` and `RateLimit: "user";r=20;t=12`, of the IETF draft, list every tier: 100 in 60 seconds,
///   and no more than 20 in the next 12. The `RateLimit` of a denial lists only the tiers that denied.
///
/// Nested layers append to the lists. The X- headers keep the lower remaining quota, or those of the layer that denied the
/// request. Headers omit hidden and shadow tiers, and an unchecked decision writes none. The [`Decision`] is in the request's
/// extensions, together with those of outer layers, as a [`DecisionExtension`](crate::DecisionExtension), and with axum it is an
/// extractor.
///
/// Rejections have a body of the inner service's type. It has to implement `From<String>`, as axum's, reqwest's and
/// `http_body_util::Full` do; for boxed bodies, tonic's and others, there is [`map_body`](Self::map_body).
///
/// ```
/// use tollgate::{RejectionBody, Global, HttpResponder, MemoryStore, Quota, RateLimitLayer, ResetUnit};
///
/// let responder = HttpResponder::new()
///     .header_names(["x-rate-limit-limit", "x-rate-limit-remaining", "x-rate-limit-reset"])
///     .reset_unit(ResetUnit::Delta)
///     .body(|rejection| RejectionBody::plain(rejection.to_string()));
/// let layer = RateLimitLayer::token_bucket("api", Quota::per_second(100), Global, MemoryStore::new())
///     .respond_with(responder);
/// # let _ = layer;
/// ```
#[derive(Clone, Debug)]
pub struct HttpResponder {
    pub(super) headers: Headers,
    format: BodyFormat,
}

impl HttpResponder {
    /// Writes both families of headers, the reset as an epoch time, and the JSON body above.
    pub fn new() -> Self {
        Self {
            headers: Headers::default(),
            format: BodyFormat::Json,
        }
    }

    /// Writes bodies as problem details (RFC 9457), `application/problem+json`, with the types of the IETF draft.
    #[must_use]
    pub fn problem_details(self) -> Self {
        let format = BodyFormat::ProblemDetails;
        Self { format, ..self }
    }

    /// Writes the bodies that a closure returns.
    #[must_use]
    pub fn body(self, body: impl Fn(&Rejection) -> RejectionBody + Send + Sync + 'static) -> Self {
        let format = BodyFormat::Custom(Arc::new(body));
        Self { format, ..self }
    }

    /// Makes the bodies of rejections with a closure, for body types that do not implement `From<String>`.
    ///
    /// With tonic's type it is `|text| tonic::body::Body::new(Full::from(text))`, and with a boxed one:
    ///
    /// ```
    /// use std::convert::Infallible;
    /// use axum::body::Bytes;
    /// use http::{Request, Response};
    /// use http_body_util::{BodyExt, Full, combinators::BoxBody};
    /// use tollgate::{Global, HttpResponder, MemoryStore, Quota, RateLimitLayer};
    /// use tower::{ServiceBuilder, service_fn};
    ///
    /// let responder = HttpResponder::new().map_body(|text| Full::from(text).boxed());
    /// let limit = RateLimitLayer::token_bucket("api", Quota::per_second(100), Global, MemoryStore::new()).respond_with(responder);
    /// let service = ServiceBuilder::new().layer(limit).service(service_fn(async |_: Request<Full<Bytes>>| {
    ///     let body: BoxBody<Bytes, Infallible> = Full::from("hello").boxed();
    ///     Ok::<_, Infallible>(Response::new(body))
    /// }));
    /// # let _ = tower::ServiceExt::oneshot(service, Request::default());
    /// ```
    pub fn map_body<C, F: Fn(String) -> C>(self, make_body: F) -> MapBody<F> {
        MapBody {
            responder: self,
            make_body,
        }
    }
}

impl Default for HttpResponder {
    fn default() -> Self {
        Self::new()
    }
}

impl<B, C: From<String> + 'static, E> Respond<Request<B>, Response<C>, E> for HttpResponder {
    /// Whether the request is gRPC.
    type Context = bool;

    fn context(&self, request: &Request<B>) -> bool {
        grpc::is_grpc(request)
    }

    fn forward(&self, decision: &Decision, request: &mut Request<B>) {
        forward(decision, request);
    }

    fn forward_permit(&self, permit: &Permit, request: &mut Request<B>) {
        forward_permit(permit, request);
    }

    fn reject(&self, is_grpc: bool, rejection: Rejection) -> Result<Response<C>, E> {
        Ok(self.rejection(is_grpc, &rejection).map(C::from))
    }

    fn admit(&self, is_grpc: bool, decision: &Decision, response: &mut Response<C>) {
        self.write_headers(is_grpc, decision, response);
    }

    fn hold(&self, permit: Permit, response: &mut Response<C>) {
        hold(permit, response);
    }
}

/// An [`HttpResponder`] that makes bodies with a closure: the result of [`map_body`](HttpResponder::map_body).
#[derive(Clone)]
pub struct MapBody<F> {
    responder: HttpResponder,
    make_body: F,
}

impl<B, C: 'static, E, F: Fn(String) -> C> Respond<Request<B>, Response<C>, E> for MapBody<F> {
    /// Whether the request is gRPC.
    type Context = bool;

    fn context(&self, request: &Request<B>) -> bool {
        grpc::is_grpc(request)
    }

    fn forward(&self, decision: &Decision, request: &mut Request<B>) {
        forward(decision, request);
    }

    fn forward_permit(&self, permit: &Permit, request: &mut Request<B>) {
        forward_permit(permit, request);
    }

    fn reject(&self, is_grpc: bool, rejection: Rejection) -> Result<Response<C>, E> {
        Ok(self.responder.rejection(is_grpc, &rejection).map(&self.make_body))
    }

    fn admit(&self, is_grpc: bool, decision: &Decision, response: &mut Response<C>) {
        self.responder.write_headers(is_grpc, decision, response);
    }

    fn hold(&self, permit: Permit, response: &mut Response<C>) {
        hold(permit, response);
    }
}

impl<F> fmt::Debug for MapBody<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MapBody")
            .field("responder", &self.responder)
            .finish_non_exhaustive()
    }
}

impl HttpResponder {
    fn rejection(&self, is_grpc: bool, rejection: &Rejection) -> Response<String> {
        let mut response = match is_grpc {
            true => grpc::reject(rejection, String::new()),
            false => self.http_rejection(rejection),
        };
        self.headers.write_rejection(rejection, response.headers_mut());
        response
    }

    fn write_headers<C>(&self, is_grpc: bool, decision: &Decision, response: &mut Response<C>) {
        let denied_inside = match is_grpc {
            true => grpc::is_denial(response),
            false => response.status() == StatusCode::TOO_MANY_REQUESTS || denial::is_marked(response),
        };
        self.headers.write(decision, denied_inside, response.headers_mut());
    }

    fn http_rejection(&self, rejection: &Rejection) -> Response<String> {
        let RejectionBody { content_type, text } = self.format.body(rejection);
        let mut response = Response::new(text);
        *response.status_mut() = rejection.status();
        denial::mark(rejection, &mut response);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, content_type);
        if let Some(seconds) = rejection.retry_after_secs() {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// The response of [`HttpResponder::new`] to an HTTP request.
#[cfg(feature = "axum")]
impl axum::response::IntoResponse for Rejection {
    fn into_response(self) -> axum::response::Response {
        HttpResponder::new().rejection(false, &self).map(axum::body::Body::from)
    }
}

/// The header settings of both responders.
macro_rules! settings {
    ($($responder:ident),*) => {$(
        impl $responder {
            /// Renames `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset`, in this order.
            ///
            /// # Panics
            /// If one is not a valid header name.
            #[must_use]
            #[track_caller]
            pub fn header_names(self, names: [&str; 3]) -> Self {
                config_error::expect(self.try_header_names(names))
            }

            /// Renames the X- headers, or returns an error if one is not a valid header name.
            pub fn try_header_names(mut self, names: [&str; 3]) -> Result<Self, ConfigError> {
                let [limit, remaining, reset] = names.map(header_name);
                self.headers.names = HeaderNames::Custom([limit?, remaining?, reset?]);
                Ok(self)
            }

            /// Writes the X- headers of each visible tier, with its name at their end, instead of those of the most restrictive one:
            /// `X-RateLimit-Remaining-Tokens` for a tier `tokens`.
            ///
            /// With tiers `requests` and `tokens`, and [`ResetUnit::Duration`], they are those of OpenAI's API, which its clients
            /// read.
            #[must_use]
            pub fn x_headers_per_tier(mut self) -> Self {
                self.headers.per_tier = true;
                self
            }

            /// Omits the X- headers.
            #[must_use]
            pub fn without_x_headers(mut self) -> Self {
                self.headers.names = HeaderNames::None;
                self
            }

            /// Omits `RateLimit` and `RateLimit-Policy`.
            ///
            /// Some clients that implement earlier drafts ignore all other headers if `RateLimit` is present, and cannot parse
            /// it.
            #[must_use]
            pub fn without_ietf_headers(mut self) -> Self {
                self.headers.ietf = None;
                self
            }

            /// Writes `RateLimit` and `RateLimit-Policy` as this version of the draft defines them: the newest one by default.
            #[must_use]
            pub fn ietf_draft(mut self, draft: IetfDraft) -> Self {
                self.headers.ietf.get_or_insert_default().draft = draft;
                self
            }

            /// Adds a partition key (`pk`) to the members of `RateLimit` and `RateLimit-Policy`, for clients that make requests on behalf
            /// of several users: the bytes that the closure returns for a tier.
            ///
            /// Responses have none by default, since a key discloses how the service identifies its clients. Return what the client
            /// knows anyway, or a digest of it.
            ///
            /// ```
            /// use tollgate::HttpResponder;
            ///
            /// let responder = HttpResponder::new()
            ///     .partition_key(|tier| (tier.limit().name() == "tenant").then(|| tier.key().to_string().into_bytes()));
            /// # let _ = responder;
            /// ```
            #[must_use]
            pub fn partition_key(
                mut self,
                key: impl Fn(&TierDecision) -> Option<Vec<u8>> + Send + Sync + 'static,
            ) -> Self {
                self.headers.ietf.get_or_insert_default().partition_key = Some(Arc::new(key));
                self
            }

            /// Sets the unit of `X-RateLimit-Reset`, which is the Unix epoch by default.
            #[must_use]
            pub fn reset_unit(mut self, unit: ResetUnit) -> Self {
                self.headers.reset = unit;
                self
            }
        }
    )*};
}

settings![HttpResponder, GrpcResponder];
