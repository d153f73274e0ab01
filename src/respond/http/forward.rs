//! What the inner service is told.

use http::Request;

use crate::decision::Decision;

/// Leaves the decision in the request's extensions, together with those of outer layers.
pub(super) fn forward<B>(decision: &Decision, request: &mut Request<B>) {
    let extensions = request.extensions_mut();
    if let Some(outer) = extensions.insert(decision.clone()) {
        extensions.insert(decision.clone().after(&outer));
    }
}
