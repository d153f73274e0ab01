//! Forwards requests to the upstream.

use axum::{
    Extension,
    body::Body,
    extract::{Request, State},
    http::{
        HeaderMap, HeaderName, StatusCode, Uri,
        header::{
            CONNECTION, EXPECT, HOST, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
        },
    },
    response::Response,
};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};

use crate::{AnyError, api_error::ApiError, chat_request::Estimate};

/// An HTTP client for one endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Proxy {
    client: Client<HttpsConnector<HttpConnector>, Body>,
    endpoint: Uri,
}

impl Proxy {
    /// A proxy to the path of an upstream at `http://HOST:PORT` or `https://HOST`.
    pub(crate) fn to(upstream: &str, path: &str) -> Result<Self, AnyError> {
        let endpoint = format!("{}{path}", upstream.trim_end_matches('/')).parse::<Uri>();
        let endpoint = endpoint.ok().filter(|endpoint| endpoint.scheme().is_some());
        let connector = HttpsConnectorBuilder::new()
            .with_native_roots()?
            .https_or_http()
            .enable_http1()
            .build();
        Ok(Self {
            client: Client::builder(TokioExecutor::new()).build(connector),
            endpoint: endpoint.ok_or_else(|| format!("UPSTREAM={upstream} is not like https://api.openai.com"))?,
        })
    }
}

/// Passes the request on with its API key, and the response with the estimate in its extensions.
pub(crate) async fn forward(
    State(proxy): State<Proxy>,
    Extension(estimate): Extension<Estimate>,
    request: Request,
) -> Result<Response, ApiError> {
    let (head, body) = request.into_parts();
    // Without the extensions: the HTTP client may keep them for longer, and they contain the permit of the concurrency limit.
    let mut forwarded = Request::new(body);
    *forwarded.method_mut() = head.method;
    *forwarded.uri_mut() = proxy.endpoint.clone();
    *forwarded.headers_mut() = head.headers;
    remove_hop_by_hop(forwarded.headers_mut());
    // The HTTP client sets the host, and the body has been read already.
    forwarded.headers_mut().remove(HOST);
    forwarded.headers_mut().remove(EXPECT);
    let mut response = proxy.client.request(forwarded).await.map_err(bad_gateway)?;
    remove_hop_by_hop(response.headers_mut());
    response.extensions_mut().insert(estimate);
    Ok(response.map(Body::new))
}

fn bad_gateway(error: impl std::error::Error) -> ApiError {
    eprintln!("cannot reach the upstream: {error:?}");
    ApiError {
        status: StatusCode::BAD_GATEWAY,
        message: "The upstream cannot be reached.".into(),
    }
}

/// Removes the headers that are about one connection, and those that `Connection` lists.
fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let lines = headers
        .get_all(CONNECTION)
        .into_iter()
        .filter_map(|line| line.to_str().ok());
    let names = lines.flat_map(|line| line.split(','));
    let listed: Vec<HeaderName> = names.filter_map(|name| name.trim().parse().ok()).collect();
    let keep_alive = HeaderName::from_static("keep-alive");
    let always = [
        CONNECTION,
        keep_alive,
        PROXY_AUTHENTICATE,
        PROXY_AUTHORIZATION,
        TE,
        TRAILER,
        TRANSFER_ENCODING,
        UPGRADE,
    ];
    for name in always.into_iter().chain(listed) {
        headers.remove(name);
    }
}
