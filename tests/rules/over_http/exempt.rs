//! Exempt requests, which are not counted.

use axum::http::Method;
use tollgate::{ManualClock, RulesLayer};

use super::fixture::{
    NOTHING, NOW, Reply, Server, TRUST, TRUST_OTHERS, TestStore, decision_app, on_both_stores, rules, serve, ten,
};
use support::redis::RedisServer;

on_both_stores![
    methods_are_exempt,
    a_path_is_exempt,
    networks_are_exempt,
    all_conditions_of_an_exemption_have_to_match,
    one_of_several_exemptions_is_enough,
    an_address_that_a_client_claims_exempts_no_request,
    without_an_address_networks_exempt_no_request,
    exempt_requests_need_no_key,
];

fn with(exemptions: &str) -> String {
    ten("api", "key = \"global\"") + exemptions + "\n" + TRUST
}

/// Asserts which of these requests are exempt. All of them are served.
async fn are_exempt<St: TestStore>(file: &str, cases: &[(&str, &str, &str, bool)]) {
    let (server, ..) = serve::<St>(file).await;
    for (method, path, from, exempt) in cases {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let request = server.request_by(method.clone(), path);
        let reply = Reply::to(request.header("x-forwarded-for", *from)).await;
        assert_eq!(reply.status, 200, "{method} {path} {from}");
        assert_eq!(
            reply.limits() == NOTHING,
            *exempt,
            "{method} {path} {from}: {}",
            reply.limits()
        );
    }
}

const OUTSIDE: &str = "192.0.2.1";

async fn methods_are_exempt<St: TestStore>() {
    let file = with("[[exempt]]\nmethods = [\"OPTIONS\", \"HEAD\"]");
    let cases = ["OPTIONS", "HEAD", "GET", "POST"].map(|method| {
        let exempt = ["OPTIONS", "HEAD"].contains(&method);
        (method, "/", OUTSIDE, exempt)
    });
    are_exempt::<St>(&file, &cases).await;
}

async fn a_path_is_exempt<St: TestStore>() {
    let file = with("[[exempt]]\npath = \"/healthz\"\n[[exempt]]\npath = \"/static/{*file}\"");
    let cases = [
        ("/healthz", true),
        ("/healthz?verbose=1", true),
        ("/healthz/", false),
        ("/healthz/deep", false),
        ("/static/a/b.css", true),
        ("/static/", false),
        ("/", false),
    ];
    are_exempt::<St>(&file, &cases.map(|(path, exempt)| ("GET", path, OUTSIDE, exempt))).await;
}

async fn networks_are_exempt<St: TestStore>() {
    let file = with("[[exempt]]\nnetworks = [\"10.0.0.0/8\", \"fd00::/8\", \"198.51.100.7\"]");
    let cases = [
        ("10.0.0.1", true),
        ("10.255.255.255", true),
        ("11.0.0.0", false),
        ("::ffff:10.0.0.1", true),
        ("fd00::1", true),
        ("[fdff::1]:4711", true),
        ("fe00::1", false),
        ("198.51.100.7", true),
        ("198.51.100.8", false),
        // Entries that the client sent before the proxy's own do not matter.
        ("10.0.0.1, 192.0.2.1", false),
        ("192.0.2.1, 10.0.0.1", true),
    ];
    are_exempt::<St>(&file, &cases.map(|(from, exempt)| ("GET", "/", from, exempt))).await;
}

async fn all_conditions_of_an_exemption_have_to_match<St: TestStore>() {
    let file = with("[[exempt]]\nmethods = [\"GET\"]\npath = \"/metrics\"\nnetworks = [\"10.0.0.0/8\"]");
    let cases = [
        ("GET", "/metrics", "10.0.0.1", true),
        ("GET", "/metrics", OUTSIDE, false),
        ("GET", "/", "10.0.0.1", false),
        ("POST", "/metrics", "10.0.0.1", false),
        ("POST", "/", OUTSIDE, false),
    ];
    are_exempt::<St>(&file, &cases).await;
}

async fn one_of_several_exemptions_is_enough<St: TestStore>() {
    let file = with(
        "[[exempt]]\nmethods = [\"OPTIONS\"]\n[[exempt]]\npath = \"/healthz\"\n[[exempt]]\nnetworks = [\"10.0.0.0/8\"]",
    );
    let cases = [
        ("OPTIONS", "/", OUTSIDE, true),
        ("GET", "/healthz", OUTSIDE, true),
        ("GET", "/", "10.0.0.1", true),
        ("OPTIONS", "/healthz", "10.0.0.1", true),
        ("GET", "/", OUTSIDE, false),
    ];
    are_exempt::<St>(&file, &cases).await;
}

async fn an_address_that_a_client_claims_exempts_no_request<St: TestStore>() {
    let exemption = "[[exempt]]\nnetworks = [\"10.0.0.0/8\"]\n";
    for trust in ["", TRUST_OTHERS] {
        let file = ten("api", "key = \"global\"") + exemption + trust;
        are_exempt::<St>(&file, &[("GET", "/", "10.0.0.1", false)]).await;
    }
    let file = ten("api", "key = \"global\"") + "[[exempt]]\nnetworks = [\"127.0.0.0/8\"]\n";
    are_exempt::<St>(&file, &[("GET", "/", OUTSIDE, true)]).await;
}

async fn without_an_address_networks_exempt_no_request<St: TestStore>() {
    let (store, _) = St::fresh();
    let file = with("[[exempt]]\nnetworks = [\"0.0.0.0/0\", \"::/0\"]\n[[exempt]]\npath = \"/healthz\"");
    let layer = RulesLayer::new(rules(&file), store);
    let server = Server::start_without_peers(decision_app().layer(layer)).await;
    for (path, left) in [("/", "9"), ("/healthz", "-"), ("/", "8")] {
        let reply = server.get(path).await;
        assert_eq!((reply.status, reply.remaining().as_str()), (200, left), "{path}");
    }
}

async fn exempt_requests_need_no_key<St: TestStore>() {
    let file = ten("api", "key = \"header:x-user-id\"") + "[[exempt]]\npath = \"/healthz\"\n";
    let (server, ..) = serve::<St>(&file).await;
    assert_eq!(server.get("/").await.status, 400);
    let reply = server.get("/healthz").await;
    assert_eq!((reply.status, reply.body.as_str()), (200, ""));
}

#[tokio::test]
async fn exempt_requests_do_not_call_the_store() {
    let mut redis = RedisServer::start();
    let store = redis.store().clock(ManualClock::at(NOW)).build().unwrap();
    redis.kill();
    let layer = RulesLayer::new(rules(&with("[[exempt]]\npath = \"/healthz\"")), store).fail_closed();
    let server = Server::start(decision_app().layer(layer)).await;
    for _ in 0..3 {
        assert_eq!(server.get("/healthz").await.all(), (200, "-".into(), NOTHING.into()));
        assert_eq!(server.get("/").await.all(), (503, "1".into(), NOTHING.into()));
    }
}
