//! Recognizes the denials of inner layers, whose headers outer layers keep.

use http::{HeaderValue, Response, StatusCode};

use super::{
    super::Rejection,
    grpc::{Code, GRPC_STATUS},
};

/// In the extensions of a denial that reports that the service is unavailable, as other responses do too.
#[derive(Clone, Copy, Debug)]
struct DeniedAsUnavailable;

/// Marks the response to a rejection as a denial, if its status does not.
pub(super) fn mark<C>(rejection: &Rejection, response: &mut Response<C>) {
    if matches!(rejection, Rejection::Limited(decision) if decision.is_unavailable()) {
        response.extensions_mut().insert(DeniedAsUnavailable);
    }
}

/// Whether a limit denied the request, or the service did with the same status.
pub(super) fn is_denial<C>(is_grpc: bool, response: &Response<C>) -> bool {
    let has_status = match is_grpc {
        true => {
            let status = response.headers().get(GRPC_STATUS);
            status.is_some_and(|status| *status == HeaderValue::from(Code::ResourceExhausted as u16))
        }
        false => response.status() == StatusCode::TOO_MANY_REQUESTS,
    };
    has_status || response.extensions().get::<DeniedAsUnavailable>().is_some()
}
