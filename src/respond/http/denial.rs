//! Marks the denials that outer layers would not recognize by their status. Outer layers keep the headers of a denial.

use http::Response;

use super::super::Rejection;

/// In the extensions of a denial that reports that the service is unavailable, as other responses do too.
#[derive(Clone, Copy, Debug)]
struct DeniedAsUnavailable;

/// Marks the response to a rejection as a denial, if its status does not.
pub(super) fn mark<C>(rejection: &Rejection, response: &mut Response<C>) {
    if matches!(rejection, Rejection::Limited(decision) if decision.is_unavailable()) {
        response.extensions_mut().insert(DeniedAsUnavailable);
    }
}

pub(super) fn is_marked<C>(response: &Response<C>) -> bool {
    response.extensions().get::<DeniedAsUnavailable>().is_some()
}
