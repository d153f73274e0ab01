//! The example `llm`: token budgets, with the fake upstream of the example and with one that answers in other ways.

use std::sync::Arc;

use axum::{
    Json, Router,
    body::Body,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::post,
};
use futures_util::{StreamExt, stream};
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use tokio::sync::Notify;

use support::{
    http,
    project::example,
    redis::{RedisServer, keys},
    wait::eventually,
};

use crate::examples::{Server, header};

/// The tokens of the budget. The window is an hour, so that none ends during a test.
const TOKENS: u64 = 1000;
const REQUESTS: u64 = 100;

/// The proxy, and the upstream unless that is the example's own.
struct Proxy {
    server: Server,
    client: Client,
    upstream: Option<Upstream>,
}

/// The upstream of this file.
struct Upstream {
    _server: http::Server,
    /// Lets an answer break off.
    fail: Arc<Notify>,
}

impl Proxy {
    /// With the fake upstream of the example.
    fn start() -> Self {
        Self::with(&[], None)
    }

    /// With the upstream of this file, and other settings.
    async fn with_upstream(variables: &[(&str, &str)]) -> Self {
        let fail = Arc::new(Notify::new());
        let app = Router::new().route("/v1/chat/completions", post(answer));
        let server = http::Server::start(app.with_state(Arc::clone(&fail))).await;
        let url = server.url();
        let variables = [&[("UPSTREAM", url.as_str())], variables].concat();
        Self::with(&variables, Some(Upstream { _server: server, fail }))
    }

    fn with(variables: &[(&str, &str)], upstream: Option<Upstream>) -> Self {
        let mut llm = example("llm");
        llm.env("TOKENS", TOKENS.to_string())
            .env("REQUESTS", REQUESTS.to_string())
            .env("WINDOW_SECONDS", "3600")
            .envs(variables.iter().copied());
        Self {
            server: Server::start(llm),
            client: Client::builder().no_proxy().build().unwrap(),
            upstream,
        }
    }

    /// A request of the tenant with this API key.
    fn post(&self, tenant: &str, body: &Value) -> RequestBuilder {
        let url = format!("{}{}", self.server.url, "/v1/chat/completions");
        let request = self.client.post(url).bearer_auth(tenant);
        request
            .header("content-type", "application/json")
            .body(body.to_string())
    }

    async fn send(&self, tenant: &str, body: &Value) -> reqwest::Response {
        self.post(tenant, body).send().await.unwrap()
    }

    /// Sends a request and reads its answer to the end.
    async fn complete(&self, tenant: &str, body: &Value) -> (u16, String) {
        let response = self.send(tenant, body).await;
        (response.status().as_u16(), response.text().await.unwrap())
    }

    /// Lets an answer of the upstream break off.
    fn fail(&self) {
        self.upstream.as_ref().unwrap().fail.notify_one();
    }

    /// The requests and tokens that were used, from the response to a request that can never be admitted, and so changes nothing.
    async fn used(&self, tenant: &str) -> (u64, u64) {
        let impossible = json!({"model": "small", "max_tokens": 1_000_000, "messages": []});
        let response = self.send(tenant, &impossible).await;
        assert_eq!(response.status(), 429);
        let (requests, tokens) = remaining(&response);
        (REQUESTS - requests, TOKENS - tokens)
    }

    /// Waits until the settlement, which follows the end of the answer.
    async fn uses(&self, tenant: &str, requests: u64, tokens: u64) {
        let what = format!("{tenant} has used {requests} requests and {tokens} tokens");
        eventually(&what, async || self.used(tenant).await == (requests, tokens)).await;
    }
}

/// The remaining requests and tokens.
fn remaining(response: &reqwest::Response) -> (u64, u64) {
    let number = |name: &str| header(response, name).parse().unwrap();
    (
        number("x-ratelimit-remaining-requests"),
        number("x-ratelimit-remaining-tokens"),
    )
}

/// A request for at most 100 tokens, whose prompt has three tokens and is estimated at 11.
fn chat(content: &str) -> Value {
    json!({"model": "small", "max_tokens": 100, "messages": [{"role": "user", "content": content}]})
}

fn streamed(content: &str) -> Value {
    let mut chat = chat(content);
    chat["stream"] = true.into();
    chat
}

/// An upstream that answers as the prompt names. An answer that breaks off does so when the test notifies it.
async fn answer(State(fail): State<Arc<Notify>>, headers: HeaderMap, Json(chat): Json<Value>) -> Response {
    let usage = json!({"total_tokens": 30});
    let json = Json(json!({"choices": [], "usage": usage}));
    let events = |count: usize| stream::iter(0..count).map(|_| Ok::<_, &str>("data: {\"choices\":[]}\n\n"));
    let event_stream = |body: Body| ([("content-type", "text/event-stream")], body).into_response();
    let failure = stream::once(async move {
        fail.notified().await;
        Err("broken")
    });
    match chat["messages"][0]["content"].as_str().unwrap() {
        "states usage" => json.into_response(),
        "no usage" => Json(json!({"choices": []})).into_response(),
        "is text" => json.0.to_string().into_response(),
        "compressed" => ([("content-encoding", "br")], json).into_response(),
        "no events" => event_stream(Body::from_stream(events(3))),
        "stays open" => event_stream(Body::from_stream(events(3).chain(stream::pending()))),
        "breaks off" => event_stream(Body::from_stream(events(3).chain(failure))),
        "incomplete" => {
            let body = stream::iter([Ok("{\"choices\":")]).chain(failure);
            ([("content-type", "application/json")], Body::from_stream(body)).into_response()
        }
        "overloaded" => (StatusCode::SERVICE_UNAVAILABLE, json).into_response(),
        _ => {
            let names: Vec<_> = headers.keys().map(|name| name.as_str()).collect();
            let authorization = headers["authorization"].to_str().unwrap();
            let echo = json!({"headers": names, "authorization": authorization, "body": chat, "usage": usage});
            let hop_by_hop = [
                ("connection", "x-internal, keep-alive"),
                ("x-internal", "1"),
                ("keep-alive", "timeout=5"),
                ("x-request-id", "7"),
            ];
            (hop_by_hop, Json(echo)).into_response()
        }
    }
}

#[tokio::test]
async fn an_answer_is_settled_to_its_usage() {
    let proxy = Proxy::start();
    let response = proxy.send("alice", &chat("one two three")).await;
    assert_eq!(response.status(), 200);
    for (name, value) in [
        ("x-ratelimit-limit-requests", "100"),
        ("x-ratelimit-limit-tokens", "1000"),
        ("x-ratelimit-remaining-requests", "99"),
        // Reserved until the answer has been sent.
        ("x-ratelimit-remaining-tokens", "889"),
        ("x-ratelimit-reset-tokens", "1h0m0s"),
    ] {
        assert_eq!(header(&response, name), value, "{name}");
    }
    assert!(!response.headers().contains_key("x-ratelimit-limit-in-flight"));
    let answer: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    assert_eq!(answer["choices"][0]["message"]["content"], "one two three");
    assert_eq!(
        answer["usage"],
        json!({"prompt_tokens": 3, "completion_tokens": 3, "total_tokens": 6})
    );
    proxy.uses("alice", 1, 6).await;

    // Shorter than the prompt.
    let mut short = chat("one two three");
    short["max_tokens"] = 2.into();
    let (_, answer) = proxy.complete("alice", &short).await;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["choices"][0]["finish_reason"], "length");
    proxy.uses("alice", 2, 6 + 5).await;
}

#[tokio::test]
async fn a_stream_is_settled_to_its_usage() {
    let proxy = Proxy::start();
    let (status, events) = proxy.complete("alice", &streamed("one two three")).await;
    assert_eq!(status, 200);
    let data = events.split("\n\n").filter_map(|event| event.strip_prefix("data: "));
    let data: Vec<_> = data.collect();
    assert_eq!(data.len(), 7, "{events}");
    assert_eq!(data[6], "[DONE]");
    let chunks: Vec<Value> = data[..6]
        .iter()
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    let tokens = chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str());
    assert_eq!(tokens.collect::<Vec<_>>(), ["", "one", " two", " three"]);
    assert_eq!(chunks[5]["usage"]["total_tokens"], 6);
    proxy.uses("alice", 1, 6).await;
}

#[tokio::test]
async fn tenants_and_models_have_their_own_budgets() {
    let proxy = Proxy::start();
    let mut large = chat("one two three");
    large["model"] = "large".into();
    for (tenant, body) in [
        ("alice", chat("one two three")),
        ("alice", large),
        ("bob", chat("one two three")),
    ] {
        let response = proxy.send(tenant, &body).await;
        assert_eq!(remaining(&response), (REQUESTS - 1, TOKENS - 111));
    }
}

#[tokio::test]
async fn an_error_of_the_upstream_is_refunded() {
    let proxy = Proxy::start();
    let mut broken = chat("one two three");
    broken["model"] = "broken".into();
    let response = proxy.send("alice", &broken).await;
    assert_eq!(response.status(), 500);
    assert_eq!(remaining(&response), (REQUESTS - 1, TOKENS));

    // Although its body states a usage.
    let proxy = Proxy::with_upstream(&[]).await;
    let response = proxy.send("alice", &chat("overloaded")).await;
    assert_eq!(response.status(), 503);
    assert_eq!(remaining(&response), (REQUESTS - 1, TOKENS));

    let unreachable = Proxy::with(&[("UPSTREAM", "http://127.0.0.1:1")], None);
    let response = unreachable.send("alice", &chat("one two three")).await;
    assert_eq!(response.status(), 502);
    assert_eq!(remaining(&response), (REQUESTS - 1, TOKENS));
    let error: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    assert_eq!(error["error"]["type"], "server_error");
}

#[tokio::test]
async fn an_answer_without_readable_usage_keeps_what_was_reserved() {
    let proxy = Proxy::with_upstream(&[]).await;
    for content in ["no usage", "is text", "compressed"] {
        let reserved = 100 + 4 + 3 + (content.len() as u64).div_ceil(4);
        assert_eq!(proxy.complete(content, &chat(content)).await.0, 200);
        // The second settlement follows the first one, if there is any.
        assert_eq!(proxy.complete(content, &chat("states usage")).await.0, 200);
        proxy.uses(content, 2, reserved + 30).await;
    }
    // Only a stream tells how many tokens it had when it broke off.
    let mut response = proxy.send("incomplete", &chat("incomplete")).await;
    assert!(response.chunk().await.unwrap().is_some());
    proxy.fail();
    assert!(response.chunk().await.is_err());
    assert_eq!(proxy.complete("incomplete", &chat("states usage")).await.0, 200);
    proxy.uses("incomplete", 2, 100 + 4 + 3 + 3 + 30).await;
    // A stream that ends as it should, without having stated its usage.
    assert_eq!(proxy.complete("events", &streamed("no events")).await.0, 200);
    assert_eq!(proxy.complete("events", &chat("states usage")).await.0, 200);
    proxy.uses("events", 2, 100 + 4 + 3 + 3 + 30).await;
}

/// To the estimate of the prompt, 10, and a token for each of the three events.
#[tokio::test]
async fn a_stream_that_breaks_off_is_settled_to_what_was_sent() {
    let proxy = Proxy::with_upstream(&[]).await;
    let read = async |response: &mut reqwest::Response| {
        let mut events = 0;
        while events < 3 {
            let data = response.chunk().await.unwrap().unwrap();
            events += data.windows(2).filter(|end| end == b"\n\n").count();
        }
        assert_eq!(events, 3);
    };

    // The client disconnects.
    let mut response = proxy.send("alice", &streamed("stays open")).await;
    read(&mut response).await;
    assert_eq!(proxy.used("alice").await, (1, 110));
    drop(response);
    proxy.uses("alice", 1, 13).await;

    // The upstream fails.
    let mut response = proxy.send("bob", &streamed("breaks off")).await;
    read(&mut response).await;
    proxy.fail();
    assert!(response.chunk().await.is_err());
    proxy.uses("bob", 1, 13).await;

    // Not more than was reserved.
    let mut short = streamed("breaks off");
    short["max_tokens"] = 1.into();
    let mut response = proxy.send("carol", &short).await;
    read(&mut response).await;
    proxy.fail();
    assert!(response.chunk().await.is_err());
    assert_eq!(proxy.complete("carol", &chat("states usage")).await.0, 200);
    proxy.uses("carol", 2, 11 + 30).await;
}

#[tokio::test]
async fn a_denied_request_gets_the_error_of_openai_and_counts_nowhere() {
    let proxy = Proxy::with_upstream(&[("TOKENS", "200"), ("IN_FLIGHT", "1")]).await;
    // It holds its tokens and its slot as long as it is open.
    let first = proxy.send("alice", &streamed("stays open")).await;
    assert_eq!(remaining(&first), (REQUESTS - 1, 90));

    // By tokens and by concurrency: the time of the tokens is known.
    let denied = proxy.send("alice", &chat("states usage")).await;
    assert_eq!(denied.status(), 429);
    assert_eq!(remaining(&denied), (REQUESTS - 1, 90));
    let seconds = header(&denied, "retry-after");
    assert!((3500..=3600).contains(&seconds.parse().unwrap()), "{seconds}");
    let message = format!("Too many requests. Please retry after {seconds} seconds.");
    let error = json!({"message": message, "type": "tokens", "param": null, "code": "rate_limit_exceeded"});
    let body: Value = serde_json::from_str(&denied.text().await.unwrap()).unwrap();
    assert_eq!(body, json!({"error": error}));

    // Only by concurrency.
    let mut cheap = chat("states usage");
    cheap["max_tokens"] = 10.into();
    let denied = proxy.send("alice", &cheap).await;
    assert_eq!(denied.status(), 429);
    assert_eq!(header(&denied, "retry-after"), "1");
    assert_eq!(remaining(&denied), (REQUESTS - 1, 90));
    let body: Value = serde_json::from_str(&denied.text().await.unwrap()).unwrap();
    assert_eq!(
        (&body["error"]["type"], &body["error"]["code"]),
        (&json!("requests"), &json!("rate_limit_exceeded"))
    );
    // Other tenants have their own slots.
    assert_eq!(proxy.complete("bob", &cheap).await.0, 200);

    drop(first);
    eventually("the slot is free", async || {
        proxy.send("alice", &cheap).await.status() == 200
    })
    .await;
}

#[tokio::test]
async fn the_request_is_passed_on_with_bounds_and_without_hop_by_hop_headers() {
    let proxy = Proxy::with_upstream(&[]).await;
    let mut body = json!({
        "model": "small",
        "messages": [{"role": "user", "content": "echo"}],
        "temperature": 0.5,
        "stream": true,
        "stream_options": {"include_obfuscation": false},
    });
    let request = proxy.post("alice", &body);
    let request = request
        .header("connection", "x-hop, te")
        .header("x-hop", "1")
        .header("te", "trailers");
    let response = request.header("accept-encoding", "gzip").send().await.unwrap();
    // The default length of the answer; the bytes of the text and of the temperature, 4 for the message, and 3.
    assert_eq!(remaining(&response).1, TOKENS - 200 - (2 + 4 + 3));
    assert_eq!(header(&response, "x-request-id"), "7");
    for name in ["x-internal", "keep-alive"] {
        assert!(!response.headers().contains_key(name), "{name}");
    }
    let echo: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    assert_eq!(echo["authorization"], "Bearer alice");
    let mut names: Vec<_> = echo["headers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "accept",
            "accept-encoding",
            "authorization",
            "content-length",
            "content-type",
            "host"
        ]
    );
    body["max_completion_tokens"] = 200.into();
    body["stream_options"]["include_usage"] = true.into();
    assert_eq!(echo["body"], body);
}

#[tokio::test]
async fn the_reservation_covers_every_alternative_and_every_part() {
    let proxy = Proxy::with_upstream(&[]).await;
    let part = json!({"type": "text", "text": "states usage"});
    let image = json!({"type": "image_url", "image_url": {"url": "data:"}});
    let tools = json!([{"type": "function", "function": {"name": "a"}}]); // 45 bytes, and 12 of the prompt
    for (tenant, body, reserved) in [
        ("tools", json!({"max_tokens": 50, "tools": tools}), 15 + 7 + 50),
        ("alternatives", json!({"n": 3, "max_tokens": 50}), 10 + 150),
        (
            "two bounds",
            json!({"max_completion_tokens": 70, "max_tokens": 20}),
            10 + 70,
        ),
        ("null", json!({"n": null, "max_tokens": null, "stream": null}), 10 + 200),
    ] {
        let mut chat = json!({"model": "small", "messages": [{"role": "user", "content": "states usage"}]});
        chat.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        assert_eq!(
            remaining(&proxy.send(tenant, &chat).await).1,
            TOKENS - reserved,
            "{tenant}"
        );
    }
    // The fake upstream reads parts, too.
    let proxy = Proxy::start();
    let chat = json!({"model": "small", "max_tokens": 10, "messages": [{"role": "user", "content": [part, image]}]});
    let response = proxy.send("alice", &chat).await;
    // The JSON of both parts has 88 bytes.
    assert_eq!(remaining(&response).1, TOKENS - (22 + 4 + 3) - 10);
    assert!(response.text().await.unwrap().contains("\"content\":\"states usage\""));
}

#[tokio::test]
async fn an_invalid_request_is_rejected_with_the_error_of_openai() {
    let proxy = Proxy::start();
    let endless = json!({"model": "a".repeat(1 << 20), "messages": []}).to_string();
    for (body, status) in [
        ("", 400),
        ("{", 400),
        ("[]", 400),
        (r#"{"messages": []}"#, 400),
        (r#"{"model": "small", "messages": [], "max_tokens": -1}"#, 400),
        (
            r#"{"model": "small", "messages": [], "max_tokens": 9, "max_tokens": 1}"#,
            400,
        ),
        (&endless, 413),
    ] {
        let request = proxy.post("alice", &Value::Null).body(body.to_owned());
        let response = request.send().await.unwrap();
        let name = &body[..body.len().min(60)];
        assert_eq!(response.status(), status, "{name}");
        let error: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
        assert_eq!(error["error"]["type"], "invalid_request_error", "{name}");
        assert!(error["error"]["message"].is_string(), "{name}");
    }
    assert_eq!(proxy.used("alice").await, (0, 0));

    let mut without_key = proxy.post("alice", &chat("one")).build().unwrap();
    without_key.headers_mut().remove("authorization");
    let response = proxy.client.execute(without_key).await.unwrap();
    assert_eq!(response.status(), 400);
    assert!(response.text().await.unwrap().contains("bearer token"));
}

#[tokio::test]
async fn two_proxies_share_a_budget_in_redis() {
    let redis = RedisServer::start();
    // Slots are not what denies, although the answers are dropped while they are sent.
    let variables = [("REDIS_URL", &*redis.url()), ("IN_FLIGHT", "100")];
    let [first, second] = [(); 2].map(|()| Proxy::with(&variables, None));
    let mut long = chat(&"word ".repeat(100));
    long["max_tokens"] = 100.into();
    // On a busy machine, Redis may exceed its timeout and requests pass unchecked, so the test repeats them.
    eventually("the tokens are exhausted", async || {
        first.send("alice", &long).await.status() == 429
    })
    .await;
    eventually("they are exhausted for both", async || {
        let response = second.send("alice", &long).await;
        let is_checked = response.headers().contains_key("x-ratelimit-limit-tokens");
        assert!(!is_checked || response.status() == 429);
        is_checked
    })
    .await;
    let keys = keys(&mut redis.client());
    assert!(keys.iter().any(|key| key.contains(":tokens:")), "{keys:?}");
    // An API key is stored as its digest.
    let digest = "apikey:2bd806c97f0e00af1a1fc3328fa763a9";
    assert!(
        keys.iter().all(|key| key.contains(digest) && !key.contains("alice")),
        "{keys:?}"
    );
}

#[test]
fn settings_are_checked_at_start_up() {
    for (variable, value, message) in [
        ("TOKENS", "many", "TOKENS=many is not a number"),
        (
            "UPSTREAM",
            "localhost",
            "UPSTREAM=localhost is not like https://api.openai.com",
        ),
    ] {
        let output = example("llm")
            .env("LISTEN", "127.0.0.1:0")
            .env(variable, value)
            .output()
            .unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains(message), "{error}");
    }
}
