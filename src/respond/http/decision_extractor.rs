//! The decision as an axum extractor.

use std::convert::Infallible;

use axum::{
    extract::{FromRequestParts, OptionalFromRequestParts},
    http::{StatusCode, request::Parts},
};

use crate::decision::{Decision, DecisionExtension};

/// Extracts the decisions of all layers around the handler.
///
/// Without such a layer, the request is rejected with 500; extract an `Option<Decision>` if the layer is optional.
///
/// ```
/// use tollgate::Decision;
///
/// async fn handler(decision: Decision) -> String {
///     let left = decision.tiers().iter().map(|tier| tier.verdict().remaining()).min();
///     format!("{} left", left.unwrap_or_default())
/// }
/// # let _: axum::Router = axum::Router::new().route("/", axum::routing::get(handler));
/// ```
impl<S: Sync> FromRequestParts<S> for Decision {
    type Rejection = (StatusCode, &'static str);

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        in_extensions(parts).ok_or((
            StatusCode::INTERNAL_SERVER_ERROR,
            "there is no Decision in the request's extensions: put a RateLimitLayer with HttpResponder, the default, around this handler",
        ))
    }
}

impl<S: Sync> OptionalFromRequestParts<S> for Decision {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<Self>, Infallible> {
        Ok(in_extensions(parts))
    }
}

fn in_extensions(parts: &Parts) -> Option<Decision> {
    let decision: &DecisionExtension = parts.extensions.get()?;
    Some(decision.without_receipt())
}
