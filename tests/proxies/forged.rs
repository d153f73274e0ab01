//! What a client sends does not change what it is counted as.

use axum::http::{HeaderValue, Method};

use super::{
    client::{Client, request},
    envoy::ENVOY,
    for_each_http_proxy,
    program::{Program, documented},
    proxy::Proxy,
    stack::Stack,
};

/// Of searches, in the rules of docs/service/.
const LIMIT: usize = 10;

/// Headers that describe another request, or remove the description.
const HEADERS: [&[(&str, &str)]; 11] = [
    &[("x-forwarded-uri", "/healthz")],
    &[("x-forwarded-uri", "/healthz"), ("x-forwarded-uri", "/healthz")],
    &[("x_forwarded_uri", "/healthz")],
    &[("x-forwarded-method", "OPTIONS")],
    &[("x-forwarded-for", "192.0.2.1")],
    &[("x-forwarded-for", "192.0.2.1, 192.0.2.2")],
    &[("x_forwarded_for", "192.0.2.1")],
    &[("forwarded", "for=192.0.2.1"), ("x-real-ip", "192.0.2.1")],
    &[("x-original-url", "/healthz"), ("x-rewrite-url", "/healthz")],
    &[
        ("connection", "close, x-forwarded-uri, x-forwarded-method"),
        ("x-forwarded-uri", "/healthz"),
    ],
    &[
        ("connection", "close, x-forwarded-for, x-real-ip"),
        ("x-forwarded-for", "192.0.2.1"),
    ],
];

/// Paths of the same resource, and parameters of the service.
const PATHS: [&str; 5] = [
    "/search?deny=200",
    "/search?deny=403",
    "//search",
    "/x/../search",
    "/%73earch",
];

/// Exhausts the limit of searches.
async fn exhaust(proxy: &Proxy, tenant: &[(&str, &str)]) {
    for _ in 0..LIMIT {
        assert_eq!(proxy.get("/search", tenant).await.status, 200);
    }
    assert_eq!(proxy.get("/search", tenant).await.status, 429);
}

async fn a_client_cannot_describe_another_request(program: &'static Program) {
    let stack = Stack::start(program, &documented(program.rules), 1).await;
    let proxy = stack.proxy();
    exhaust(proxy, &[]).await;
    for headers in HEADERS {
        assert_eq!(proxy.get("/search", headers).await.status, 429, "{headers:?}");
    }
    for path in PATHS {
        assert_eq!(proxy.get(path, &[]).await.status, 429, "{path}");
    }
    // The application may have a path of this name, too.
    let reply = proxy.get("/check?deny=200", &[("x-forwarded-uri", "/healthz")]).await;
    assert_eq!((reply.status, &*reply.body), (200, "GET /check?deny=200 "));
}

for_each_http_proxy!(a_client_cannot_describe_another_request);

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_envoy_cannot_describe_another_request() {
    let stack = Stack::start(&ENVOY, &documented(ENVOY.rules), 1).await;
    let (proxy, alice) = (stack.proxy(), ("x-tenant", "alice"));
    exhaust(proxy, &[alice]).await;
    let forged = [
        ("x-envoy-original-path", "/items"),
        ("x-envoy-ratelimited", "false"),
        ("x-forwarded-for", "192.0.2.1"),
        // Envoy takes the first value.
        ("x-tenant", "bob"),
    ];
    for header in forged {
        assert_eq!(proxy.get("/search", &[alice, header]).await.status, 429, "{header:?}");
    }
    for path in PATHS {
        assert_eq!(proxy.get(path, &[alice]).await.status, 429, "{path}");
    }
}

/// Envoy sends the bytes of the header as they are.
#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_that_is_not_utf_8_is_limited() {
    let stack = Stack::start(&ENVOY, &documented(ENVOY.rules), 1).await;
    let client = Client::new();
    let mut statuses = Vec::new();
    for _ in 0..=LIMIT {
        let url = format!("http://{}/search", stack.proxy().address());
        let mut search = request(Method::GET, &url, &[], "");
        let tenant = HeaderValue::from_bytes(b"bob\xff").unwrap();
        search.headers_mut().insert("x-tenant", tenant);
        statuses.push(client.try_send(search).await.unwrap().status);
    }
    assert_eq!(statuses, [[200; LIMIT].as_slice(), &[429]].concat());
}
