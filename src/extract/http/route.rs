//! The template of a request's route.

use axum::extract::MatchedPath;
use http::Request;

use super::super::{KeyError, KeyExtractor};
use crate::key::Key;

/// The template of the route that axum matched: `/users/{id}` counts as one, whatever the id.
///
/// Its braces read `<id>` in a key: Redis Cluster would place all keys of a route on one node by what is in braces. Where
/// no route was matched, in a fallback or around a whole router, all requests count as one, `~unmatched`: never by their
/// path, which clients make up.
///
/// ```
/// use axum::{Router, routing::get};
/// use tollgate::{ClientIp, MemoryStore, Quota, RateLimitLayer, Route};
///
/// // One layer, and a limit for each client on each route.
/// let limit = RateLimitLayer::sliding_counter("route", Quota::per_minute(60), (ClientIp::peer(), Route), MemoryStore::new());
/// let app: Router = Router::new()
///     .route("/notes", get(async || "notes"))
///     .route("/notes/{id}", get(async || "a note"))
///     .layer(limit);
/// # let _ = app;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Route;

impl<B> KeyExtractor<Request<B>> for Route {
    fn extract(&self, request: &Request<B>) -> Result<Option<Key>, KeyError> {
        let matched = request.extensions().get::<MatchedPath>();
        Ok(Some(matched.map_or_else(
            || Key::stand_in("unmatched"),
            |path| Key::route(path.as_str()),
        )))
    }
}
