//! The permit as an axum extractor.

use std::convert::Infallible;

use axum::{extract::OptionalFromRequestParts, http::request::Parts};

use crate::permit::Permit;

/// Extracts an `Option<Permit>`: the slots that all layers around the handler hold for the request. It is `None` if they hold none, as when
/// the store failed and the layer is open.
impl<S: Sync> OptionalFromRequestParts<S> for Permit {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<Self>, Infallible> {
        Ok(parts.extensions.get::<Self>().cloned())
    }
}
