//! What is read from a request: whom it is counted for, what it costs, and whether it is meant at all.
//!
//! A [`KeyExtractor`] looks at a request and names a [`Key`](crate::Key). Choose by what a client cannot make up: whoever can
//! choose their key can choose a fresh limit, or use up another's.
//!
//! | extractor | a key reads | who can make it up |
//! | --- | --- | --- |
//! | [`Global`] | `global` | nobody: everybody shares it |
//! | [`ClientIp::peer`] | `ip:192.0.2.1` | whoever has many addresses |
//! | [`ClientIp::behind`], [`ClientIp::hops`] | `ip:[2001:db8::]/64` | **anybody, if it trusts a proxy that is none** |
//! | [`FromExtension`] | `user:12345` | nobody, if it is the user whom an outer layer authenticated |
//! | [`ApiKey`] | `apikey:<digest>` | **anybody**, unless keys are verified by an outer layer |
//! | [`Header`] | `x-user-id:12345` | **anybody**, unless a proxy sets the header and removes what clients send |
//! | [`QueryParam`] | `query/tenant:acme` | **anybody** |
//! | [`Cookie`] | `cookie/session:8f3a` | **anybody**, unless sessions are verified by an outer layer |
//! | `Route` | `/api/search` | nobody: it is the route's template, not the path |
//! | [`HttpMethod`] | `method:GET` | whoever has a use for another method |
//! | a word | `~everyone` | nobody: it is a constant |
//! | a tuple of them | `user:123:/api/search` | whoever can make up one of its parts |
//! | a closure | what it returns | whoever can choose what it reads |
//!
//! ```
//! use http::Request;
//! use tollgate::{ClientIp, Header, Key, KeyExtractor};
//!
//! // A header, and the client's address for those who do not send it.
//! let user = Header::new("x-user-id").label("user").or(ClientIp::peer());
//! let request = Request::builder().header("x-user-id", "12345").body(())?;
//! assert_eq!(user.extract(&request)?, Some(Key::new("user:12345")));
//!
//! // A closure, which exempts whatever it returns `None` for: health checks are never counted.
//! let all_but_health_checks = |request: &Request<()>| (request.uri().path() != "/healthz").then_some(Key::GLOBAL);
//! assert_eq!(all_but_health_checks.extract(&Request::get("/healthz").body(())?)?, None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Behind proxies, whose address it is takes some thought: [the guide](crate::guide::behind_proxies) goes through it.
//!
//! A [`CostExtractor`] says what a request costs, where that is not 1: a closure, or [`ContentLength`]. A [`Matcher`] says which
//! requests are exempt or denied: a closure, a method, or [a network](ClientIp::within).

mod closure;
mod cost;
mod error;
mod extractor;
mod global;
mod http;
mod matcher;
mod or;
mod tuple;

#[cfg(feature = "axum")]
pub use self::http::Route;
pub(crate) use self::http::header_name;
pub use self::{
    closure::IntoKey,
    cost::{CostExtractor, IntoCost},
    error::KeyError,
    extractor::KeyExtractor,
    global::Global,
    http::{
        ApiKey, ClientIp, ContentLength, Cookie, FromExtension, Header, HttpMethod, QueryParam, Unaddressed, Within,
    },
    matcher::Matcher,
    or::Or,
};
