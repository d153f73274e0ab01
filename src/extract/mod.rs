//! Key extractors, cost extractors and matchers.
//!
//! A [`KeyExtractor`] extracts a [`Key`](crate::Key) from a request. Choose one that clients cannot forge: a client that
//! chooses its own key gets a new quota with each key, or exhausts the quota of another client.
//!
//! | key extractor | example key | who can forge it |
//! | --- | --- | --- |
//! | [`Global`] | `global` | no client: all share it |
//! | [`ClientIp::peer`] | `ip:192.0.2.1` | a client that has many addresses |
//! | [`ClientIp::trusted_proxies`], [`ClientIp::trusted_hops`] | `ip:[2001:db8::]/64` | **any client, if a trusted address is not a proxy** |
//! | [`FromExtension`] | `user:12345` | no client, if an outer layer authenticated the user |
//! | [`ApiKey`] | `apikey:<digest>` | **any client**, unless an outer layer verifies keys |
//! | [`Header`] | `x-user-id:12345` | **any client**, unless a proxy sets the header and removes values from clients |
//! | [`QueryParam`] | `query/tenant:acme` | **any client** |
//! | [`Cookie`] | `cookie/session:8f3a` | **any client**, unless an outer layer verifies sessions |
//! | `Route` | `/api/search` | no client: it is the route's template, not the path |
//! | [`HttpMethod`] | `method:GET` | a client for which another method works as well |
//! | a string | `~everyone` | no client: it is a constant |
//! | a tuple of key extractors | `user:123:/api/search` | a client that can forge one of its parts |
//! | a closure | the key it returns | a client that controls what the closure reads |
//!
//! ```
//! use http::Request;
//! use tollgate::{ClientIp, Header, Key, KeyExtractor};
//!
//! // A header, with the client's address as the default.
//! let user = Header::new("x-user-id").label("user").or(ClientIp::peer());
//! let request = Request::builder().header("x-user-id", "12345").body(())?;
//! assert_eq!(user.extract(&request)?, Key::new("user:12345"));
//!
//! // A closure or a function: `None` is a missing key. Without the type of its request, pass the closure to `key_fn`.
//! let tenant = |request: &Request<()>| Some(Key::named("tenant", request.headers().get("x-tenant")?.to_str().ok()?));
//! assert!(tenant.extract(&request).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A request that lacks the key is rejected with 400, and not counted. `.or("anonymous")` or `.or(ClientIp::peer())` sets a default
//! key instead, and with `.optional()` the tier does not count such requests: every extractor has both methods, functions and
//! closures by [`KeyExtractor`].
//!
//! A request with several different values for a query parameter, a cookie or a header is rejected with 400
//! ([`KeyError::Ambiguous`]), because the handler might use another one than the limit counts. A sibling domain can plant a second
//! cookie: see [`Cookie`].
//!
//! Behind proxies, the client's address depends on which proxies are trusted: see [the guide](crate::guide::behind_proxies).
//!
//! A [`CostExtractor`] extracts the cost of a request, where that is not 1: a closure, or [`ContentLength`]. A [`Matcher`]
//! selects the requests that are exempt or blocked: a closure, a method, or [a network](ClientIp::in_networks).

mod cost;
mod error;
mod http;
mod key_extractor;
mod matcher;

#[cfg(feature = "axum")]
pub use self::http::Route;
pub(crate) use self::http::header_name;
pub use self::{
    cost::{CostExtractor, IntoCost},
    error::KeyError,
    http::{
        ApiKey, ClientIp, ContentLength, Cookie, FromExtension, Header, HttpMethod, InNetworks, NoPeerAddr, QueryParam,
        key_fn,
    },
    key_extractor::{BoxKeyExtractor, Global, IntoKey, KeyExtractor, Optional, Or},
    matcher::Matcher,
};
