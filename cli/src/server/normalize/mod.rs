//! Rewrites request targets so that the rate limits and the service interpret them identically.

mod path;

use http::{Uri, uri::PathAndQuery};

/// Normalizes the path, or returns why it is rejected. The query is kept as it is.
pub(crate) fn normalize_target(uri: &Uri) -> Result<PathAndQuery, &'static str> {
    let path = path::normalize_path(uri.path())?;
    let target = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.into_owned(),
    };
    target.parse().map_err(|_| "The path is invalid.")
}
