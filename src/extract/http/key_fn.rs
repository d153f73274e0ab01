//! Closures without the type of their request.

use http::Request;

use crate::extract::key_extractor::IntoKey;

/// A closure that extracts the key of HTTP requests, without the type of its request: the compiler infers it here.
///
/// ```
/// use axum::{Router, extract::Request};
/// use tollgate::{Key, MemoryStore, Quota, RateLimitLayer, key_fn};
///
/// fn tenant(request: &Request, domain: &str) -> Option<Key> {
///     let host = request.headers().get("host")?.to_str().ok()?;
///     Some(Key::named("tenant", host.strip_suffix(domain)?))
/// }
///
/// let key = key_fn(|request| tenant(request, ".example.com"));
/// let limit = RateLimitLayer::token_bucket("tenant", Quota::per_minute(100), key, MemoryStore::new());
/// let app: Router = Router::new().layer(limit);
/// # let _ = app;
/// ```
pub fn key_fn<B, F, T>(key: F) -> F
where
    F: Fn(&Request<B>) -> T,
    T: IntoKey,
{
    key
}
