//! Charges that depend on the response: refunded by its status, or settled to a number in its body.

use std::{convert::Infallible, sync::Arc};

use axum::{
    Router,
    body::{Body, Bytes},
    http::{
        HeaderMap, Request, Response, StatusCode,
        header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE},
    },
    routing::any,
};
use futures_util::{StreamExt, stream};
use tokio::sync::Semaphore;
use tollgate::{Key, Limit, RuleSet, RulesLayer};
use tower::{Layer, ServiceExt, service_fn};

use super::fixture::{Reply, Server, TRUST, TestStore, on_both_stores, rules, ten, yield_until};

on_both_stores![
    a_status_refunds_by_class_and_by_number,
    the_whole_cost_is_refunded,
    a_denied_request_is_not_refunded,
    plans_share_the_outcome_of_the_limit,
    each_limit_has_its_own_outcome,
    a_shadow_is_refunded_too,
    the_rules_in_force_at_the_response_settle,
    a_bucket_whose_rate_has_changed_refunds_nothing,
    the_limit_in_force_bounds_what_a_body_states,
    a_plan_refunds_under_its_own_limit,
    a_body_states_the_cost,
    a_refund_precedes_the_body,
    a_body_in_pieces_is_read,
    two_limits_read_the_same_body,
    only_a_body_that_is_read_must_not_be_compressed,
    a_body_of_another_type_is_not_read,
];

/// Responds as the headers of the request ask, with the body of the request in pieces of seven bytes.
async fn respond(headers: HeaderMap, body: Bytes) -> Response<Body> {
    let asked = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let status = asked("x-status").map_or(200, |status| status.parse().unwrap());
    let accepted = asked(ACCEPT_ENCODING.as_str()).unwrap_or("-");
    let mut response = Response::builder().status(status).header("x-accepted", accepted);
    for (asked_by, name) in [("x-type", CONTENT_TYPE), ("x-encoding", CONTENT_ENCODING)] {
        if let Some(value) = asked(asked_by) {
            response = response.header(name, value);
        }
    }
    let pieces: Vec<_> = body
        .chunks(7)
        .map(|piece| Ok::<_, Infallible>(Bytes::copy_from_slice(piece)))
        .collect();
    response.body(Body::from_stream(stream::iter(pieces))).unwrap()
}

fn app() -> Router {
    Router::new().fallback(any(respond))
}

/// The app behind these rules, and what is left of their limits.
struct Api<St> {
    server: Server,
    rules: RuleSet,
    store: St,
}

impl<St: TestStore> Api<St> {
    async fn start(file: &str) -> Self {
        Self::serve(file, app()).await
    }

    async fn serve(file: &str, app: Router) -> Self {
        let (rules, (store, _)) = (rules(file), St::fresh());
        let layer = RulesLayer::new(rules.clone(), store.clone());
        let server = Server::start(app.layer(layer)).await;
        Self { server, rules, store }
    }

    /// Sends a request that is answered with this status.
    async fn get(&self, status: u16) -> Reply {
        Reply::to(self.server.request("/").header("x-status", status)).await
    }

    /// Sends a request that is answered with this body.
    async fn post(&self, content_type: &str, body: &'static str) -> Reply {
        Reply::to(self.server.post("/").header("x-type", content_type).body(body)).await
    }

    async fn left(&self, limit: &str) -> u64 {
        let limit = self.rules.limit(limit, None).unwrap();
        self.store.left(&limit, &Key::GLOBAL).await
    }

    /// Waits until this much is left: a body settles in the background.
    async fn until_left(&self, limit: &str, left: u64) {
        yield_until(async || self.left(limit).await == left).await;
    }
}

/// Ten per minute for all requests together.
fn global(fields: &str) -> String {
    ten("api", &format!("key = \"global\"\n{fields}"))
}

/// A hundred per minute, of which a request reserves ten.
fn tokens(name: &str, fields: &str) -> String {
    ten(name, &format!("key = \"global\"\ncost = 10\n{fields}")).replace("limit = 10", "limit = 100")
}

async fn a_status_refunds_by_class_and_by_number<St: TestStore>() {
    const STATUSES: [u16; 10] = [200, 204, 299, 301, 401, 404, 429, 500, 503, 599];
    for (value, refunded) in [
        ("\"2xx\"", &[200, 204, 299][..]),
        ("\"3xx\"", &[301]),
        ("\"4xx\"", &[401, 404, 429]),
        ("\"5xx\"", &[500, 503, 599]),
        ("\"404\"", &[404]),
        ("404", &[404]),
        ("[\"2xx\", \"404\"]", &[200, 204, 299, 404]),
        ("[\"5xx\", 429, \"401\", 599]", &[401, 429, 500, 503, 599]),
    ] {
        let api = Api::<St>::start(&global(&format!("refund_status = {value}"))).await;
        let mut left = 10;
        for status in STATUSES {
            left -= u64::from(!refunded.contains(&status));
            let reply = api.get(status).await;
            // The headers contain the state after the refund.
            assert_eq!((reply.status, reply.remaining()), (status, left.to_string()), "{value}");
        }
        assert_eq!(api.left("api").await, left, "{value}");
    }
}

async fn the_whole_cost_is_refunded<St: TestStore>() {
    let api = Api::<St>::start(&global("cost = 7\nrefund_status = \"2xx\"")).await;
    for (status, reply, left) in [(200, 200, "10"), (401, 401, "3"), (200, 429, "3")] {
        let got = api.get(status).await;
        assert_eq!((got.status, got.remaining()), (reply, left.into()));
    }
}

/// Neither by the status of the denial, nor by that which the service would have sent.
async fn a_denied_request_is_not_refunded<St: TestStore>() {
    let file = global("refund_status = [\"4xx\", \"5xx\"]") + &ten("other", "key = \"global\"");
    let api = Api::<St>::start(&file.replace("limit = 10", "limit = 2")).await;
    for status in [200, 200] {
        assert_eq!(api.get(status).await.status, 200);
    }
    for _ in 0..3 {
        assert_eq!(api.get(500).await.status, 429);
        assert_eq!((api.left("api").await, api.left("other").await), (0, 0));
    }
}

async fn plans_share_the_outcome_of_the_limit<St: TestStore>() {
    let plans = "plan = \"header:x-plan\"\nplans.pro = { limit = 100 }\nrefund_status = \"2xx\"";
    let api = Api::<St>::start(&(global(plans) + TRUST)).await;
    for (status, left) in [(200, "100"), (500, "99"), (204, "99")] {
        let request = api.server.request("/").header("x-status", status);
        assert_eq!(Reply::to(request.header("x-plan", "pro")).await.remaining(), left);
    }
    assert_eq!(api.left("api").await, 9);
}

async fn each_limit_has_its_own_outcome<St: TestStore>() {
    let file = ten("failures", "key = \"global\"\nrefund_status = \"2xx\"")
        + &ten("all", "key = \"global\"")
        + &ten("served", "key = \"global\"\nrefund_status = \"5xx\"");
    let api = Api::<St>::start(&file).await;
    for status in [200, 200, 200, 404, 500] {
        assert_eq!(api.get(status).await.status, status);
    }
    let left = [
        api.left("failures").await,
        api.left("all").await,
        api.left("served").await,
    ];
    assert_eq!(left, [8, 5, 6]);
}

async fn a_shadow_is_refunded_too<St: TestStore>() {
    let api = Api::<St>::start(&global("shadow = true\nrefund_status = \"2xx\"")).await;
    for (status, left) in [(200, 10), (500, 9), (200, 9)] {
        api.get(status).await;
        assert_eq!(api.left("api").await, left);
    }
}

/// The rules are replaced while the handler runs.
async fn the_rules_in_force_at_the_response_settle<St: TestStore>() {
    let (refund, other) = ("refund_status = \"2xx\"", ten("other", "key = \"global\""));
    let more = global(refund).replace("limit = 10", "limit = 20");
    for (before, after, left) in [
        (global(refund), global(refund), 10),
        (global(refund), other.clone() + &global(refund), 10),
        (global(refund), more, 10),
        (global("refund_status = 500"), global(refund), 10),
        (global(refund), global("refund_status = 500"), 9),
        (global(refund), global(""), 9),
        (global(refund), other, 9),
        // A charge that was final when it was made stays so.
        (global(""), global(refund), 9),
    ] {
        let (api, limit) = replaced_while_the_handler_runs::<St>(&before, &after).await;
        assert_eq!(
            api.store.left(&limit, &Key::GLOBAL).await,
            left,
            "{before}\nreplaced by\n{after}"
        );
    }
}

/// A request that is answered with 200 after its rules were replaced, and the first limit that was replaced.
async fn replaced_while_the_handler_runs<St: TestStore>(before: &str, after: &str) -> (Api<St>, Limit) {
    let (inside, release) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let handler = {
        let (inside, release) = (Arc::clone(&inside), Arc::clone(&release));
        async move || {
            inside.add_permits(1);
            release.acquire().await.unwrap().forget();
        }
    };
    let api = Api::<St>::serve(before, Router::new().fallback(any(handler))).await;
    let limit = api.rules.limits().remove(0);
    let request = api.server.request("/").header("x-plan", "pro");
    let request = tokio::spawn(Reply::to(request));
    inside.acquire().await.unwrap().forget();
    let before = api.store.left(&limit, &Key::GLOBAL).await;
    assert_eq!(before, u64::from(limit.algorithm().capacity()) - 1);
    api.rules.replace(after).unwrap();
    release.add_permits(1);
    assert_eq!(request.await.unwrap().status, 200);
    (api, limit)
}

/// A bucket at another rate measures in another unit, so it is not known what the charge has left in it.
async fn a_bucket_whose_rate_has_changed_refunds_nothing<St: TestStore>() {
    let bucket = global("refund_status = \"2xx\"").replace("fixed_window", "token_bucket");
    for (fields, left) in [
        ("limit = 10", 10),
        ("limit = 20\ncapacity = 10", 9),
        ("limit = 10\ncapacity = 20", 20),
    ] {
        let (api, _) = replaced_while_the_handler_runs::<St>(&bucket, &bucket.replace("limit = 10", fields)).await;
        assert_eq!(api.left("api").await, left, "{fields}");
    }
}

/// The rules are replaced while the body is sent, which then states a cost of 64. In all, a window counts twice its limit at most.
async fn the_limit_in_force_bounds_what_a_body_states<St: TestStore>() {
    let file = tokens("api", "settle_json = \"usage.total_tokens\"");
    for (limit, left) in [("limit = 100", 36), ("limit = 50", 36), ("limit = 20", 60)] {
        let release = Arc::new(Semaphore::new(0));
        let handler = {
            let release = Arc::clone(&release);
            async move || {
                let pieces = stream::iter(["{\"usage\":{\"total_", "tokens\":64}}"]).then(move |piece| {
                    let release = Arc::clone(&release);
                    async move {
                        release.acquire().await.unwrap().forget();
                        Ok::<_, Infallible>(piece)
                    }
                });
                ([(CONTENT_TYPE, JSON)], Body::from_stream(pieces))
            }
        };
        let api = Api::<St>::serve(&file, Router::new().fallback(any(handler))).await;
        release.add_permits(1);
        let mut response = api.server.request("/").send().await.unwrap();
        assert!(response.chunk().await.unwrap().is_some());
        let first = api.rules.limits().remove(0);
        assert_eq!(api.store.left(&first, &Key::GLOBAL).await, 90);
        api.rules.replace(&file.replace("limit = 100", limit)).unwrap();
        release.add_permits(1);
        while response.chunk().await.unwrap().is_some() {}
        yield_until(async || api.store.left(&first, &Key::GLOBAL).await == left).await;
    }
}

/// The limit of a plan is replaced by that of the same plan, or by the rule's own.
async fn a_plan_refunds_under_its_own_limit<St: TestStore>() {
    let file = |limit: u32, plan: &str| {
        let fields = format!("refund_status = \"2xx\"\nplan = \"header:x-plan\"\n{plan}");
        let bucket = global(&fields).replace("fixed_window", "token_bucket") + TRUST;
        bucket.replace("limit = 10", &format!("limit = {limit}"))
    };
    let pro = "plans.pro = { limit = 50 }";
    for (limit, plan, left) in [
        (10, pro, 10),
        (20, pro, 20),
        (10, "plans.pro = { limit = 200 }", 9),
        (10, "plans.free = { limit = 50 }", 9),
    ] {
        let (api, _) = replaced_while_the_handler_runs::<St>(&file(10, pro), &file(limit, plan)).await;
        assert_eq!(api.left("api").await, left, "{limit} {plan}");
    }
}

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

async fn a_body_states_the_cost<St: TestStore>() {
    let one = "settle_json = \"usage.total_tokens\"";
    let two = "settle_json = [\"usage.total_tokens\", \"response.usage.total_tokens\"]";
    let stream = "data: {\"delta\":\"a\"}\n\ndata: {\"usage\":{\"total_tokens\":33}}\n\ndata: [DONE]\n\n";
    let event = "event: done\ndata: {\"response\":{\"usage\":{\"total_tokens\":34}}}\n\n";
    for (field, content_type, body, cost) in [
        (one, JSON, "{\"usage\":{\"total_tokens\":3}}", 3),
        (one, JSON, "{\"usage\":{\"total_tokens\":10}}", 10),
        (one, JSON, "{\"usage\":{\"total_tokens\":64}}", 64),
        (one, JSON, "{\"usage\":{\"total_tokens\":0}}", 0),
        (one, "application/problem+json", "{\"usage\":{\"total_tokens\":3}}", 3),
        (one, EVENTS, stream, 33),
        (two, EVENTS, stream, 33),
        (two, EVENTS, event, 34),
        // These state no cost.
        (one, EVENTS, event, 10),
        (one, JSON, "{\"choices\":[]}", 10),
        (one, JSON, "{\"usage\":{\"total_tokens\":\"3\"}}", 10),
        (one, JSON, "", 10),
        (one, "text/plain", "{\"usage\":{\"total_tokens\":3}}", 10),
    ] {
        let api = Api::<St>::start(&tokens("tokens", field)).await;
        let reply = api.post(content_type, body).await;
        // The headers are sent before the body, and contain what was reserved.
        assert_eq!((reply.body.as_str(), reply.remaining()), (body, "90".into()));
        api.until_left("tokens", 100 - cost).await;
        // A settlement of the first body would be visible after that of a second one.
        api.post(JSON, "{\"usage\":{\"total_tokens\":5}}").await;
        api.until_left("tokens", 95 - cost).await;
    }
}

async fn a_refund_precedes_the_body<St: TestStore>() {
    let fields = "refund_status = \"5xx\"\nsettle_json = \"used\"";
    let api = Api::<St>::start(&tokens("tokens", fields)).await;
    let send = async |status: u16| {
        let request = api.server.post("/").header("x-status", status).header("x-type", JSON);
        Reply::to(request.body("{\"used\":30}")).await.remaining()
    };
    assert_eq!(send(500).await, "100");
    assert_eq!(send(200).await, "90");
    api.until_left("tokens", 70).await;
    assert_eq!(send(503).await, "70");
    assert_eq!(api.left("tokens").await, 70);
}

/// A body without an announced length, of which each piece is sent only after the test asks for it.
async fn a_body_in_pieces_is_read<St: TestStore>() {
    let pieces = Arc::new(Semaphore::new(0));
    let handler = {
        let pieces = Arc::clone(&pieces);
        async move || {
            let frames = ["data: {\"us", "ed\":", "4", "2}\n", "\n", "data: [DONE]\n\n"];
            let body = stream::unfold((pieces, frames.into_iter()), async |(pieces, mut frames)| {
                pieces.acquire().await.unwrap().forget();
                let frame = frames.next()?;
                Some((Ok::<_, Infallible>(frame), (pieces, frames)))
            });
            ([(CONTENT_TYPE, EVENTS)], Body::from_stream(body))
        }
    };
    let file = tokens("tokens", "settle_json = \"used\"");
    let api = Api::<St>::serve(&file, Router::new().fallback(any(handler))).await;
    let reply = tokio::spawn(api.server.get("/"));
    for _ in 0..6 {
        pieces.add_permits(1);
        yield_until(async || pieces.available_permits() == 0).await;
        assert_eq!(api.left("tokens").await, 90);
    }
    pieces.add_permits(1);
    assert_eq!(reply.await.unwrap().body, "data: {\"used\":42}\n\ndata: [DONE]\n\n");
    api.until_left("tokens", 58).await;
}

async fn two_limits_read_the_same_body<St: TestStore>() {
    let file = tokens("input", "settle_json = \"usage.input\"") + &tokens("output", "settle_json = \"usage.output\"");
    let api = Api::<St>::start(&file).await;
    api.post(JSON, "{\"usage\":{\"input\":1,\"output\":50}}").await;
    api.until_left("input", 99).await;
    api.until_left("output", 50).await;
}

async fn only_a_body_that_is_read_must_not_be_compressed<St: TestStore>() {
    for (field, accepted) in [
        ("settle_json = \"used\"", "identity"),
        ("refund_status = \"2xx\"", "gzip"),
        ("", "gzip"),
    ] {
        let api = Api::<St>::start(&tokens("tokens", field)).await;
        let request = api.server.request("/").header("accept-encoding", "gzip");
        assert_eq!(Reply::to(request).await.header("x-accepted"), accepted, "{field}");
    }
    // A service that compresses nevertheless keeps its charge.
    let api = Api::<St>::start(&tokens("tokens", "settle_json = \"used\"")).await;
    let request = api.server.post("/").header("x-type", JSON).header("x-encoding", "br");
    Reply::to(request.body("{\"used\":30}")).await;
    api.post(JSON, "{\"used\":30}").await;
    api.until_left("tokens", 60).await;
}

async fn a_body_of_another_type_is_not_read<St: TestStore>() {
    let file = tokens("tokens", "refund_status = 404\nsettle_json = \"used\"");
    let (store, _) = St::fresh();
    let rules = rules(&file);
    let limit = rules.limits().remove(0);
    let service = RulesLayer::new(rules, store.clone()).layer(service_fn(async |request: Request<StatusCode>| {
        let response = Response::builder().status(*request.body());
        Ok::<_, Infallible>(response.body(String::from("{\"used\":30}")).unwrap())
    }));
    for (status, left) in [(StatusCode::OK, 90), (StatusCode::NOT_FOUND, 90), (StatusCode::OK, 80)] {
        let response = service.clone().oneshot(Request::new(status)).await.unwrap();
        assert_eq!((response.status(), response.body().as_str()), (status, "{\"used\":30}"));
        assert_eq!(store.left(&limit, &Key::GLOBAL).await, left);
    }
}
