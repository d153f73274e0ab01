//! `refund_status` and `settle_json`: the responses of a service decide what requests cost.

use std::{convert::Infallible, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::Path,
    http::{
        HeaderMap, Method, StatusCode,
        header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
    routing::{any, get},
};
use futures_util::stream;

use support::{
    http::{Reply, Server},
    port::Port,
    redis::RedisServer,
    wait::eventually,
};

use crate::gateway::fixture::Gateway;

/// The fields that these tests cover, beside the cases.
pub(super) const COVERS: &[&str] = &["limit refund_status", "limit settle_json"];

const JSON: &str = "{\"choices\":[],\"usage\":{\"total_tokens\":25}}";
const EVENTS: [&str; 4] = [
    "data: {\"choices\":[\"a\"],\"usage\":null}\n\n",
    "data: {\"choices\":[],\"usage\":{\"total_",
    "tokens\":30}}\n\n",
    "data: [DONE]\n\n",
];

/// Each path has one kind of response.
fn upstream() -> Router {
    let status = async |Path(status): Path<u16>| StatusCode::from_u16(status).unwrap();
    Router::new()
        .route("/status/{status}", any(status))
        .route("/json", get(async || ([(CONTENT_TYPE, "application/json")], JSON)))
        .route("/stream", get(async || events(&EVENTS)))
        .route("/stream/without_usage", get(async || events(&EVENTS[..1])))
        .route("/text", get(async || JSON))
        .route("/compressed", get(compressed))
}

/// An event stream that pauses between its pieces, so that the gateway receives them one by one.
fn events(pieces: &'static [&'static str]) -> Response {
    let pieces = stream::unfold(pieces.iter(), async |mut pieces| {
        let piece = pieces.next()?;
        tokio::time::sleep(Duration::from_millis(10)).await;
        Some((Ok::<_, Infallible>(*piece), pieces))
    });
    ([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(pieces)).into_response()
}

/// JSON that is compressed unless the request asks for it as it is.
async fn compressed(headers: HeaderMap) -> Response {
    let accepted = headers.get_all(ACCEPT_ENCODING).iter();
    let accepted: Vec<_> = accepted.map(|value| value.to_str().unwrap()).collect();
    match accepted == ["identity"] {
        false => (
            [(CONTENT_TYPE, "application/json"), (CONTENT_ENCODING, "gzip")],
            "not JSON",
        )
            .into_response(),
        true => ([(CONTENT_TYPE, "application/json")], JSON).into_response(),
    }
}

/// A gateway in front of an upstream, with a limit that counts on a Redis.
struct Limited {
    gateway: Gateway,
    _upstream: Option<Server>,
    _redis: RedisServer,
}

impl Limited {
    async fn start(fields: &str) -> Self {
        let upstream = Server::start(upstream()).await;
        let url = upstream.url();
        Self::with_upstream(&url, Some(upstream), fields)
    }

    fn with_upstream(url: &str, upstream: Option<Server>, fields: &str) -> Self {
        let redis = RedisServer::start();
        let terms = "algorithm = 'fixed_window'\nwindow = '3650d'\nkey = 'global'";
        let rules = format!("[[limit]]\nname = 'api'\n{terms}\n{fields}\n");
        let gateway = Gateway::with_upstream(url, &rules, &["--store", &redis.url(), "--store-timeout", "30s"]);
        Self {
            gateway,
            _upstream: upstream,
            _redis: redis,
        }
    }

    /// The status of a request, and what remains by its headers.
    async fn get(&self, path: &str) -> (u16, String) {
        let reply = self.gateway.get(path).await;
        (reply.status, reply.remaining())
    }

    async fn left(&self) -> u64 {
        let key = self.gateway.admin(Method::GET, "/keys/api/global").await;
        key.json()["remaining"].as_u64().unwrap()
    }

    /// Waits until this much is left: a body settles in the background.
    async fn until_left(&self, left: u64) {
        eventually(&format!("{left} are left"), async || self.left().await == left).await;
    }
}

#[tokio::test]
async fn only_failures_count() {
    let limited = Limited::start("limit = 3\nrefund_status = ['2xx', 404]").await;
    for (path, status, left) in [
        ("/status/200", 200, "3"),
        ("/status/401", 401, "2"),
        ("/status/204", 204, "2"),
        ("/status/404", 404, "2"),
        ("/json", 200, "2"),
        ("/status/500", 500, "1"),
        ("/status/403", 403, "0"),
        ("/status/200", 429, "0"),
        ("/status/404", 429, "0"),
    ] {
        assert_eq!(limited.get(path).await, (status, left.to_owned()), "{path}");
    }
    assert_eq!(limited.left().await, 0);
}

/// The response of the gateway itself has a status, too.
#[tokio::test]
async fn an_unreachable_service_is_a_server_error() {
    let port = Port::free();
    let limited = Limited::with_upstream(
        &format!("http://127.0.0.1:{}", port.number()),
        None,
        "limit = 3\nrefund_status = '5xx'",
    );
    for _ in 0..5 {
        assert_eq!(limited.get("/").await, (502, "3".to_owned()));
    }
}

#[tokio::test]
async fn responses_settle_to_what_they_used() {
    let fields = "limit = 1000\ncost = 100\nrefund_status = '5xx'\nsettle_json = 'usage.total_tokens'";
    let limited = Limited::start(fields).await;
    let mut left = 1000;
    for (path, cost) in [
        ("/json", 25),
        ("/stream", 30),
        ("/compressed", 25),
        // These state no usage.
        ("/stream/without_usage", 100),
        ("/text", 100),
        ("/status/400", 100),
        ("/json", 25),
        ("/status/500", 0),
    ] {
        let request = limited.gateway.request(Method::GET, path);
        let request = request.header("accept-encoding", "gzip, br");
        // A client cannot remove what the gateway asks for.
        let reply = Reply::to(request.header("connection", "accept-encoding")).await;
        let reserved = if cost == 0 { left } else { left - 100 };
        assert_eq!(reply.remaining(), reserved.to_string(), "{path}");
        match path {
            "/stream" => assert_eq!(reply.body, EVENTS.concat()),
            "/json" | "/compressed" | "/text" => assert_eq!(reply.body, JSON),
            _ => {}
        }
        left -= cost;
        limited.until_left(left).await;
    }
}
