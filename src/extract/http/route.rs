//! The extractor of a request's route.

use axum::extract::MatchedPath;
use http::Request;

use super::super::{KeyError, KeyExtractor};
use crate::key::Key;

/// The template of the route that axum matched: `/users/{id}` is one key for all ids.
///
/// The key contains `<id>` for `{id}`, because Redis Cluster treats text in braces as a hash tag and would place all keys of a
/// route on one node. Where no route is matched, in a fallback or around a whole router, all requests share the key
/// `~unmatched`: clients can invent paths, so paths are never keys.
///
/// ```
/// use axum::{Router, routing::get};
/// use tollgate::{ClientIp, MemoryStore, Quota, RateLimitLayer, Route};
///
/// // One layer that limits each client on each route.
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
    fn extract(&self, request: &Request<B>) -> Result<Key, KeyError> {
        let matched = request.extensions().get::<MatchedPath>();
        Ok(matched.map_or_else(|| Key::default_key("unmatched"), |path| Key::route(path.as_str())))
    }
}
