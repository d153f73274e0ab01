//! Classifies errors of the HTTP client.

use std::{error::Error, fmt, io, iter};

use hyper_util::client::legacy;

use crate::gateway::response::ProxyError;

/// Whether the client or the upstream caused the error.
pub(super) fn classify(error: &legacy::Error) -> ProxyError {
    tracing::debug!(target: "tollgate::gateway", error = %ErrorChain(error), "upstream request failed");
    // hyper reports a failed request body, which is the client's, as a user error.
    let is_client_body = |cause: &hyper::Error| cause.is_user();
    let is_timeout = |cause: &io::Error| cause.kind() == io::ErrorKind::TimedOut;
    if sources(error)
        .filter_map(|cause| cause.downcast_ref())
        .any(is_client_body)
    {
        ProxyError::BadRequest("The request body cannot be read.")
    } else if sources(error).filter_map(|cause| cause.downcast_ref()).any(is_timeout) {
        ProxyError::UpstreamTimeout
    } else {
        ProxyError::BadUpstream
    }
}

fn sources<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    iter::successors(Some(error), |error| (*error).source())
}

/// Formats an error with all of its sources.
struct ErrorChain<'e>(&'e legacy::Error);

impl fmt::Display for ErrorChain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, cause) in sources(self.0).enumerate() {
            write!(f, "{}{cause}", if index > 0 { ": " } else { "" })?;
        }
        Ok(())
    }
}
