//! Settlements to what is read in a response's body while it is sent.

use axum::{
    Router,
    body::Body,
    extract::Request,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::get,
};
use tollgate::{BodyMeter, Global, JsonUsage, Quota, RateLimitLayer, SentBody, Tier, UsageMeter};

use crate::over_http::{
    fixture::{Chunks, Server, TestStore, on_both_stores, yield_until},
    streaming::{HUNDRED, Next, left, twenty},
};

on_both_stores![
    a_stated_usage_is_settled,
    a_body_without_a_usage_keeps_its_charge,
    a_usage_above_the_limit_becomes_a_bounded_debt,
    a_usage_that_was_read_counts_wherever_the_body_ends,
    a_meter_may_settle_a_body_that_ends_early_to_less,
    a_refund_by_the_response_overrides_the_meter,
    the_last_settlement_by_the_body_counts,
    a_compressed_body_is_not_asked_for,
];

const JSON: (&str, &str) = ("content-type", "application/json");
const EVENTS: (&str, &str) = ("content-type", "text/event-stream");
/// The type of a compressed body is that of its content.
const PLAIN: (&str, &str) = ("content-type", "text/plain");

/// A hundred tokens per minute. Each response is charged twenty until it is settled.
async fn serve<St: TestStore>() -> (Server, St, Next) {
    let ((store, _), next) = (St::fresh(), Next::default());
    let tokens = Tier::fixed_window("tokens", HUNDRED, Global)
        .cost(twenty)
        .meter_body(JsonUsage::openai());
    let server = Server::start(next.app().layer(RateLimitLayer::new(tokens, store.clone()))).await;
    (server, store, next)
}

async fn a_stated_usage_is_settled<St: TestStore>() {
    let (server, store, next) = serve::<St>().await;
    let mut total = 100;
    for (content_type, chunks, usage) in [
        (JSON, &[r#"{"id":1,"usage":{"total_tokens":7}}"#][..], 7),
        (JSON, &[r#"{"usage":{"total"#, r#"_tokens":1"#, "3}}"], 13),
        (JSON, &[r#"{"usage":{"total_tokens":20}}"#], 20),
        (JSON, &[r#"{"usage":{"total_tokens":0}}"#], 0),
        (
            EVENTS,
            &[
                "data: {\"n\":1}\n\nda",
                "ta: {\"usage\":{\"total_tokens\":25}}\n",
                "\ndata: [DONE]\n\n",
            ],
            25,
        ),
    ] {
        next.set(([content_type], Body::new(Chunks::of(chunks))));
        let reply = server.get("/").await;
        assert_eq!((reply.status, reply.body), (200, chunks.concat()));
        total -= usage;
        yield_until(async || left(&store, "tokens").await == total).await;
    }
}

/// None of these is an error for the client.
async fn a_body_without_a_usage_keeps_its_charge<St: TestStore>() {
    let gzip = [JSON, ("content-encoding", "gzip")];
    for (headers, body) in [
        (&[JSON][..], r#"{"choices":[{"usage":{"total_tokens":3}}]}"#),
        (&[JSON], r#"{"usage":{"total_tokens":-3}}"#),
        (&[JSON], r#"{"usage":{"total_tokens":"3"}}"#),
        (&[JSON], r#"{"usage":{"total_tokens":3"#),
        (&[JSON], "<html>"),
        (&[JSON], ""),
        (&[EVENTS], "data: [DONE]\n\n"),
        (&[EVENTS], "data: {\"usage\":null}\n\n"),
        (&[PLAIN], r#"{"usage":{"total_tokens":3}}"#),
        (&gzip, r#"{"usage":{"total_tokens":3}}"#),
    ] {
        let (server, store, next) = serve::<St>().await;
        let mut response = body.into_response();
        response.headers_mut().clear();
        for (name, value) in headers {
            response.headers_mut().insert(*name, value.parse().unwrap());
        }
        next.set(response);
        let reply = server.get("/").await;
        assert_eq!((reply.status, reply.body.as_str()), (200, body));
        assert_eq!(left(&store, "tokens").await, 80, "{body}");
    }
}

async fn a_usage_above_the_limit_becomes_a_bounded_debt<St: TestStore>() {
    for number in ["201", "4294967296", "99999999999999999999"] {
        let (server, store, next) = serve::<St>().await;
        next.set(([JSON], format!(r#"{{"usage":{{"total_tokens":{number}}}}}"#)));
        assert_eq!(server.get("/").await.status, 200);
        yield_until(async || left(&store, "tokens").await == 0).await;
        let denied = server.get("/").await;
        assert_eq!((denied.status, denied.header("retry-after").as_str()), (429, "45"));
    }
}

async fn a_usage_that_was_read_counts_wherever_the_body_ends<St: TestStore>() {
    let (server, store, next) = serve::<St>().await;
    const USAGE: &str = "data: {\"usage\":{\"total_tokens\":5}}\n\n";
    for (fails, total) in [(true, 95), (false, 90)] {
        let (sender, body) = Chunks::new();
        next.set(([EVENTS], Body::new(body)));
        let mut response = server.request("/").send().await.unwrap();
        sender.send(Ok(USAGE)).unwrap();
        assert_eq!(response.chunk().await.unwrap().unwrap(), USAGE);
        match fails {
            true => {
                sender.send(Err("it broke")).unwrap();
                assert!(response.bytes().await.is_err());
            }
            false => drop(response),
        }
        yield_until(async || left(&store, "tokens").await == total).await;
    }
}

/// Settles a stream that breaks off to the number of its events.
struct UsageOrEvents(UsageMeter);

impl BodyMeter for UsageOrEvents {
    fn read(&mut self, data: &[u8]) {
        self.0.read(data);
    }

    fn cost(&self, sent: &SentBody) -> Option<u64> {
        assert_eq!(sent.charged(), 20);
        let is_broken = self.0.is_event_stream() && !sent.is_complete();
        self.0.cost(sent).or(is_broken.then_some(self.0.events()))
    }
}

async fn a_meter_may_settle_a_body_that_ends_early_to_less<St: TestStore>() {
    let ((store, _), next) = (St::fresh(), Next::default());
    let usage = JsonUsage::openai();
    let tokens = Tier::fixed_window("tokens", HUNDRED, Global)
        .cost(twenty)
        .meter_body(move |response: &Response| UsageOrEvents(usage.meter(response.headers())));
    let server = Server::start(next.app().layer(RateLimitLayer::new(tokens, store.clone()))).await;
    for (content_type, fails, total) in [
        (EVENTS, true, 97),
        (EVENTS, false, 94),
        (JSON, true, 74),
        (JSON, false, 54),
    ] {
        let (sender, body) = Chunks::new();
        next.set(([content_type], Body::new(body)));
        let mut response = server.request("/").send().await.unwrap();
        for event in ["data: {}\n\n", "data: {}\n\n", "data: {"] {
            sender.send(Ok(event)).unwrap();
            assert_eq!(response.chunk().await.unwrap().unwrap(), event);
        }
        match fails {
            true => {
                sender.send(Err("it broke")).unwrap();
                assert!(response.bytes().await.is_err());
            }
            false => drop(response),
        }
        yield_until(async || sender.is_closed()).await;
        yield_until(async || left(&store, "tokens").await == total).await;
    }
}

async fn a_refund_by_the_response_overrides_the_meter<St: TestStore>() {
    let ((store, _), next) = (St::fresh(), Next::default());
    let tokens = Tier::fixed_window("tokens", HUNDRED, Global)
        .cost(twenty)
        .refund_if(|response: &Response| response.status().is_server_error())
        .meter_body(JsonUsage::openai());
    let server = Server::start(next.app().layer(RateLimitLayer::new(tokens, store.clone()))).await;
    let body = r#"{"usage":{"total_tokens":5}}"#;
    for (status, total) in [(StatusCode::BAD_GATEWAY, 100), (StatusCode::OK, 95)] {
        next.set((status, [JSON], body));
        assert_eq!(server.get("/").await.status, status.as_u16());
        yield_until(async || left(&store, "tokens").await == total).await;
    }
}

async fn the_last_settlement_by_the_body_counts<St: TestStore>() {
    let ((store, _), next) = (St::fresh(), Next::default());
    let tier = |name| Tier::fixed_window(name, HUNDRED, Global).cost(twenty);
    let bytes = |sent: &SentBody| sent.bytes();
    let metered = tier("metered").settle_body(bytes).meter_body(JsonUsage::openai());
    let counted = tier("counted").meter_body(JsonUsage::openai()).settle_body(bytes);
    let layer = RateLimitLayer::new(metered, store.clone()).tier(counted);
    let server = Server::start(next.app().layer(layer)).await;
    let body = r#"{"usage":{"total_tokens":5}}"#;
    next.set(([JSON], body));
    assert_eq!(server.get("/").await.body, body);
    yield_until(async || (left(&store, "metered").await, left(&store, "counted").await) == (95, 72)).await;
}

async fn a_compressed_body_is_not_asked_for<St: TestStore>() {
    let accepted = async |headers: HeaderMap| headers["accept-encoding"].to_str().unwrap().to_owned();
    let (store, _) = St::fresh();
    let read = Tier::fixed_window("read", HUNDRED, Global).meter_body(JsonUsage::openai());
    let counted = Tier::fixed_window("counted", HUNDRED, Global).settle_body(|sent: &SentBody| sent.bytes());
    let app = Router::new()
        .route("/read", get(accepted).layer(RateLimitLayer::new(read, store.clone())))
        .route("/counted", get(accepted).layer(RateLimitLayer::new(counted, store)));
    let server = Server::start(app).await;
    for (path, expected) in [("/read", "identity"), ("/counted", "gzip, br")] {
        let response = server.request(path).header("accept-encoding", "gzip, br").send().await;
        assert_eq!(response.unwrap().text().await.unwrap(), expected);
    }
}

/// A body that is not metered, or a request that is not charged, is as before.
#[tokio::test]
async fn an_exempt_request_is_forwarded_unchanged() {
    let accepted = async |headers: HeaderMap| headers["accept-encoding"].to_str().unwrap().to_owned();
    let tokens = Tier::fixed_window("tokens", Quota::per_minute(1), Global).meter_body(JsonUsage::openai());
    let layer = RateLimitLayer::new(tokens, tollgate::MemoryStore::new()).exempt(|_: &Request| true);
    let server = Server::start(Router::new().route("/", get(accepted)).layer(layer)).await;
    let response = server.request("/").header("accept-encoding", "gzip").send().await;
    assert_eq!(response.unwrap().text().await.unwrap(), "gzip");
}
