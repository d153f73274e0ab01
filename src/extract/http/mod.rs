//! Key extractors, cost extractors and matchers for HTTP requests.

mod api_key;
mod client_ip;
mod content_length;
mod cookie;
mod extension;
mod header;
mod key_fn;
mod method;
mod query;
#[cfg(feature = "axum")]
mod route;
mod single_value;

pub(crate) use self::header::header_name;
#[cfg(feature = "axum")]
pub use self::route::Route;
pub use self::{
    api_key::ApiKey,
    client_ip::{ClientIp, InNetworks, NoPeerAddr},
    content_length::ContentLength,
    cookie::Cookie,
    extension::FromExtension,
    header::Header,
    key_fn::key_fn,
    method::HttpMethod,
    query::QueryParam,
};
