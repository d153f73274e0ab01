//! Why the service did not answer.

use std::{error::Error, fmt, io, iter};

use hyper_util::client::legacy;

use crate::gateway::answer::Failing;

/// Whose fault it is that there is no answer.
pub(super) fn reason(error: &legacy::Error) -> Failing {
    tracing::debug!(error = %Chain(error), "a request was not answered");
    // What hyper calls its user is here the client's body, which could not be read to its end.
    let is_of_the_client = |cause: &hyper::Error| cause.is_user();
    let is_of_time = |cause: &io::Error| cause.kind() == io::ErrorKind::TimedOut;
    if causes(error)
        .filter_map(|cause| cause.downcast_ref())
        .any(is_of_the_client)
    {
        Failing::BadRequest("The request's body cannot be read.")
    } else if causes(error).filter_map(|cause| cause.downcast_ref()).any(is_of_time) {
        Failing::UpstreamTooSlow
    } else {
        Failing::BadUpstream
    }
}

fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    iter::successors(Some(error), |error| (*error).source())
}

/// An error and what it comes from.
struct Chain<'e>(&'e legacy::Error);

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, cause) in causes(self.0).enumerate() {
            write!(f, "{}{cause}", if index > 0 { ": " } else { "" })?;
        }
        Ok(())
    }
}
