//! Where a layer can be placed, and which layers share a limit.

use axum::{
    Router,
    routing::{MethodRouter, get, post},
};
use tokio::task::JoinSet;
use tollgate::{
    Algorithm, FixedWindow, Global, ManualClock, Quota, RateLimitLayer, Route, SlidingCounter, SlidingLog, Tier,
};

use support::algorithms::each_algorithm;

use crate::over_http::fixture::{NOTHING, NOW, Reply, Server, TestStore, on_both_stores};

on_both_stores![
    a_router_is_limited_with_its_fallback,
    routes_are_limited_without_the_fallback,
    methods_added_after_the_layer_are_not_limited,
    a_nested_router_is_limited_alone,
    one_layer_on_two_routes_is_one_limit,
    layers_share_a_limit_by_name,
    layers_of_another_shape_do_not_share,
    a_route_key_is_the_route_template,
    two_nodes_share_one_limit_exactly,
];

fn hello() -> MethodRouter {
    get(async || "hello")
}

fn limits(left: u32) -> String {
    format!(r#"9 {left} 660 | "api";q=9;w=60 | "api";r={left};t=45"#)
}

/// A layer that admits nine requests per minute.
fn nine<St: TestStore>(store: &St) -> RateLimitLayer<FixedWindow, Global, St> {
    RateLimitLayer::fixed_window("api", Quota::per_minute(9), Global, store.clone())
}

async fn a_router_is_limited_with_its_fallback<St: TestStore>() {
    let (store, _) = St::fresh();
    let app = Router::new()
        .route("/a", hello())
        .route("/b", hello())
        .layer(nine(&store));
    // Routes that are added after the layer are not limited.
    let server = Server::start(app.route("/free", hello())).await;
    for (path, status, observed) in [
        ("/a", 200, limits(8)),
        ("/b", 200, limits(7)),
        ("/nowhere", 404, limits(6)),
        ("/free", 200, NOTHING.into()),
        ("/a", 200, limits(5)),
    ] {
        assert_eq!(server.get(path).await.all(), (status, "-".into(), observed), "{path}");
    }
}

async fn routes_are_limited_without_the_fallback<St: TestStore>() {
    let (store, _) = St::fresh();
    let app = Router::new()
        .route("/a", hello())
        .route("/b", hello())
        .route_layer(nine(&store));
    let server = Server::start(app.route("/free", hello())).await;
    for (path, status, observed) in [
        ("/a", 200, limits(8)),
        ("/nowhere", 404, NOTHING.into()),
        ("/b", 200, limits(7)),
        ("/free", 200, NOTHING.into()),
    ] {
        assert_eq!(server.get(path).await.all(), (status, "-".into(), observed), "{path}");
    }
}

async fn methods_added_after_the_layer_are_not_limited<St: TestStore>() {
    let (store, _) = St::fresh();
    let app = Router::new()
        .route("/layer", hello().layer(nine(&store)).post(async || "posted"))
        .route("/route_layer", hello().route_layer(nine(&store)))
        .route("/both", hello().post(async || "posted").layer(nine(&store)));
    let server = Server::start(app).await;
    let post = async |path| Reply::to(server.post(path)).await.all();
    assert_eq!(server.get("/layer").await.all(), (200, "-".into(), limits(8)));
    assert_eq!(post("/layer").await, (200, "-".into(), NOTHING.into()));
    assert_eq!(server.get("/route_layer").await.all(), (200, "-".into(), limits(7)));
    assert_eq!(post("/route_layer").await, (405, "-".into(), NOTHING.into()));
    assert_eq!(server.get("/both").await.all(), (200, "-".into(), limits(6)));
    assert_eq!(post("/both").await, (200, "-".into(), limits(5)));
}

async fn a_nested_router_is_limited_alone<St: TestStore>() {
    let (store, _) = St::fresh();
    let api = Router::new().route("/a", hello()).layer(nine(&store));
    let server = Server::start(Router::new().nest("/api", api).route("/a", hello())).await;
    assert_eq!(server.get("/api/a").await.limits(), limits(8));
    assert_eq!(server.get("/a").await.limits(), NOTHING);
    assert_eq!(server.get("/api/a").await.limits(), limits(7));
}

async fn one_layer_on_two_routes_is_one_limit<St: TestStore>() {
    for algorithm in each_algorithm(Quota::per_minute(2))
        .into_iter()
        .filter(|algorithm| !algorithm.is_queueing())
    {
        let (store, _) = St::fresh();
        let layer = RateLimitLayer::new(Tier::new("shared", algorithm, Global), store);
        let app = Router::new().route("/a", hello().layer(layer.clone()));
        let server = Server::start(app.route("/b", hello().layer(layer))).await;
        let mut observed = Vec::new();
        for path in ["/a", "/b", "/a", "/b"] {
            let reply = server.get(path).await;
            observed.push((reply.status, reply.remaining().parse().unwrap()));
        }
        assert_eq!(observed, [(200, 1), (200, 0), (429, 0), (429, 0)], "{algorithm:?}");
    }
}

async fn layers_share_a_limit_by_name<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = |name| RateLimitLayer::sliding_log(name, Quota::per_minute(1), Global, store.clone());
    let app = Router::new()
        .route("/a", hello().layer(layer("one")))
        .route("/b", hello().layer(layer("one")))
        .route("/c", hello().layer(layer("two")));
    let server = Server::start(app).await;
    for (path, status) in [("/a", 200), ("/b", 429), ("/c", 200), ("/c", 429)] {
        assert_eq!(server.get(path).await.status, status, "{path}");
    }
    // Different stores do not share either.
    let (elsewhere, _) = St::fresh();
    let layer = RateLimitLayer::sliding_log("one", Quota::per_minute(1), Global, elsewhere);
    let other = Server::start(Router::new().route("/a", hello()).layer(layer)).await;
    assert_eq!(other.get("/a").await.status, 200);
}

async fn layers_of_another_shape_do_not_share<St: TestStore>() {
    let (store, _) = St::fresh();
    let (minute, hour) = (Quota::per_minute(1), Quota::per_hour(1));
    let shapes = [
        each_algorithm(minute).as_slice(),
        &each_algorithm(hour),
        &[SlidingCounter::new(minute).to_any()],
        &[SlidingLog::new(Quota::per_day(1)).to_any()],
    ]
    .concat();
    let shapes = shapes.into_iter().filter(|algorithm| !algorithm.is_queueing());
    let mut app = Router::new();
    let mut paths = Vec::new();
    for (n, algorithm) in shapes.enumerate() {
        let layer = RateLimitLayer::new(Tier::new("one", algorithm, Global), store.clone());
        paths.push(format!("/{n}"));
        app = app.route(&paths[n], hello().layer(layer));
    }
    let server = Server::start(app).await;
    for status in [200, 429] {
        for path in &paths {
            assert_eq!(server.get(path).await.status, status, "{path}");
        }
    }
}

async fn a_route_key_is_the_route_template<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("route", Quota::per_minute(1), Route, store);
    let app = Router::new()
        .route("/users/{id}", hello())
        .route("/other", post(async || "posted").get(async || "got"));
    let server = Server::start(app.layer(layer)).await;
    for (path, status) in [
        ("/users/1", 200),
        ("/users/2", 429),
        ("/other", 200),
        ("/made-up", 404),
        ("/made-up-too", 429),
    ] {
        assert_eq!(server.get(path).await.status, status, "{path}");
    }
}

async fn two_nodes_share_one_limit_exactly<St: TestStore>() {
    let clock = ManualClock::at(NOW);
    let [one, two] = St::nodes(&clock);
    let [one, two] = [one, two].map(|store| Router::new().route("/", hello()).layer(nine(&store)));
    let nodes = [Server::start(one).await, Server::start(two).await];
    for (node, left) in [(0, 8), (1, 7), (1, 6), (0, 5)] {
        assert_eq!(nodes[node].get("/").await.limits(), limits(left));
    }
    // Thirty concurrent requests on both nodes: the remaining five units are granted once.
    let mut requests: JoinSet<_> = (0..30).map(|n| nodes[n % 2].get("/")).collect();
    let mut observed = Vec::new();
    while let Some(reply) = requests.join_next().await {
        let reply = reply.unwrap();
        observed.push((reply.status, reply.remaining()));
    }
    observed.sort();
    let expected = ["0", "1", "2", "3", "4"].map(|left| (200, left.to_owned()));
    assert_eq!(observed[..5], expected);
    assert_eq!(observed[5..], vec![(429, "0".to_owned()); 25]);
}
