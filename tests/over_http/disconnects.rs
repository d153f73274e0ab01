//! Clients that disconnect when their request costs more than one unit, or when its charge may still be refunded.

use axum::{
    extract::Request,
    middleware::{self, Next},
    response::Response,
};
use tokio::task::JoinHandle;
use tollgate::{FixedWindow, Global, Key, Limit, ManualClock, Quota, RateLimitLayer, Tier};

use support::{
    algorithms::each_algorithm,
    queued_server::{SECOND, spawn_waiting},
    redis::{RedisServer, info, query},
};

use crate::over_http::{
    fixture::{HandlerGate, NOW, Reply, Server, TestStore, is_success, on_both_stores, requested_cost, yield_until},
    queue::{left, one_a_second},
};

on_both_stores![
    a_disconnect_during_the_handler_keeps_the_charge,
    an_expensive_place_in_a_queue_is_refunded_in_full,
    a_delayed_request_is_refunded_when_it_succeeds,
    a_delayed_request_with_others_behind_it_keeps_its_place,
    a_disconnect_in_the_queue_refunds_the_shadow,
    an_exempt_client_that_disconnects_is_not_counted,
];

const TEN: Quota = Quota::per_minute(10);

async fn a_disconnect_during_the_handler_keeps_the_charge<St: TestStore>() {
    for algorithm in each_algorithm(TEN) {
        let ((store, _), gate) = (St::fresh(), HandlerGate::new());
        let layer = RateLimitLayer::new(
            Tier::new("api", algorithm, Global)
                .cost(requested_cost)
                .refund_if(|_: &Response| true),
            store.clone(),
        );
        let server = Server::start(gate.scripted_app().layer(layer)).await;
        let client = tokio::spawn(Reply::to(server.request("/").header("x-cost", 3)));
        gate.wait_until_inside(1).await;
        client.abort();
        gate.wait_until_inside(0).await;
        assert_eq!(
            store.left(&Limit::new("api", algorithm), &Key::GLOBAL).await,
            7,
            "{algorithm:?}"
        );
    }
}

/// A queue and a count of all requests, before handlers that block until they are released.
struct Queue<St> {
    server: Server,
    store: St,
    clock: ManualClock,
    gate: HandlerGate,
}

impl<St: TestStore> Queue<St> {
    async fn start() -> Self {
        let ((store, clock), gate) = (St::fresh(), HandlerGate::new());
        let layer = RateLimitLayer::new(
            Tier::new("queue", one_a_second(), Global)
                .cost(requested_cost)
                .refund_if(is_success),
            store.clone(),
        )
        .tier(
            Tier::fixed_window("count", Quota::per_day(100), Global)
                .cost(requested_cost)
                .hidden(),
        );
        let server = Server::start(gate.scripted_app().layer(layer)).await;
        Self {
            server,
            store,
            clock,
            gate,
        }
    }

    fn reply(&self, cost: u64, status: u16) -> impl Future<Output = Reply> + Send + use<St> {
        let request = self.server.request("/").header("x-cost", cost);
        Reply::to(request.header("x-status", status))
    }

    /// Sends a request that is delayed, and waits until the delay starts.
    async fn delay(&self, cost: u64, status: u16) -> JoinHandle<Reply> {
        spawn_waiting(&self.clock, self.reply(cost, status)).await
    }

    async fn left(&self) -> (u64, u64) {
        left(&self.store).await
    }

    /// A failed request that costs one is served, and stays in the queue.
    async fn begin(&self) {
        let first = tokio::spawn(self.reply(1, 401));
        self.gate.wait_until_inside(1).await;
        self.gate.release(1);
        assert_eq!(first.await.unwrap().status, 401);
        assert_eq!(self.left().await, (9, 99));
    }
}

async fn an_expensive_place_in_a_queue_is_refunded_in_full<St: TestStore>() {
    let queue = Queue::<St>::start().await;
    queue.begin().await;
    let first = queue.delay(3, 200).await;
    let second = queue.delay(5, 200).await;
    assert_eq!(queue.left().await, (1, 91));
    for (client, held, left) in [(second, 1, (6, 96)), (first, 0, (9, 99))] {
        client.abort();
        yield_until(async || queue.clock.pending_sleeps() == held).await;
        yield_until(async || queue.left().await == left).await;
    }
    assert_eq!(queue.gate.inside(), 0);
}

async fn a_delayed_request_is_refunded_when_it_succeeds<St: TestStore>() {
    let queue = Queue::<St>::start().await;
    queue.begin().await;
    let held = queue.delay(3, 200).await;
    assert_eq!(queue.left().await, (6, 96));
    queue.clock.advance(SECOND);
    queue.gate.wait_until_inside(1).await;
    assert_eq!(queue.left().await, (7, 96));
    queue.gate.release(1);
    // The queue is fresh, so the next request is not delayed.
    let limits = r#"10 10 617 | "queue";q=10;w=10 | "queue";r=10;t=10"#;
    assert_eq!(held.await.unwrap().all(), (200, "-".into(), limits.into()));
    assert_eq!(queue.left().await, (10, 96));
    let _next = tokio::spawn(queue.reply(1, 200));
    queue.gate.wait_until_inside(1).await;
}

async fn a_delayed_request_with_others_behind_it_keeps_its_place<St: TestStore>() {
    let queue = Queue::<St>::start().await;
    queue.begin().await;
    let first = queue.delay(3, 200).await;
    let second = queue.delay(2, 200).await;
    queue.clock.advance(SECOND);
    queue.gate.wait_until_inside(1).await;
    queue.gate.release(1);
    // The request behind it already has its departure time, so there is nothing to refund.
    let limits = r#"10 5 622 | "queue";q=10;w=10 | "queue";r=5;t=5"#;
    assert_eq!(first.await.unwrap().all(), (200, "-".into(), limits.into()));
    assert_eq!(queue.left().await, (5, 94));
    queue.clock.advance(3 * SECOND);
    queue.gate.wait_until_inside(1).await;
    queue.gate.release(1);
    assert_eq!(second.await.unwrap().remaining(), "10");
    assert_eq!(queue.left().await, (10, 94));
}

/// The handler has responded, so the charge is refunded even if the client has disconnected.
#[tokio::test]
async fn a_refund_in_flight_completes_after_a_disconnect() {
    let (server, gate) = (RedisServer::start(), HandlerGate::new());
    let redis = &mut server.client();
    let store = server.store().clock(ManualClock::at(NOW)).build().unwrap();
    let layer = RateLimitLayer::new(
        Tier::fixed_window("api", TEN, Global).refund_if(is_success),
        store.clone(),
    );
    let connected = HandlerGate::new();
    let watch = {
        let connected = connected.clone();
        move |request: Request, next: Next| {
            let inside = connected.enter();
            async move {
                let response = next.run(request).await;
                drop(inside);
                response
            }
        }
    };
    let app = gate.scripted_app().layer(layer).layer(middleware::from_fn(watch));
    let http = Server::start(app).await;
    let client = tokio::spawn(http.get("/"));
    gate.wait_until_inside(1).await;
    let limit = Limit::new("api", FixedWindow::new(TEN));
    assert_eq!(store.left(&limit, &Key::GLOBAL).await, 9);
    query::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    gate.release(1);
    yield_until(async || info(redis, "clients", "blocked_clients:") == 1).await;
    client.abort();
    connected.wait_until_inside(0).await;
    query::<()>(redis, "CLIENT UNPAUSE");
    yield_until(async || store.left(&limit, &Key::GLOBAL).await == 10).await;
}

/// A queue, and a count in shadow mode.
async fn shadowed<St: TestStore>(store: &St, gate: &HandlerGate) -> Server {
    let layer = RateLimitLayer::new(Tier::new("queue", one_a_second(), Global), store.clone())
        .tier(Tier::fixed_window("shadowed", TEN, Global).shadow())
        .exempt(|request: &Request| request.headers().contains_key("x-exempt"));
    Server::start(gate.scripted_app().layer(layer)).await
}

async fn a_disconnect_in_the_queue_refunds_the_shadow<St: TestStore>() {
    let ((store, clock), gate) = (St::fresh(), HandlerGate::new());
    let server = shadowed(&store, &gate).await;
    let shadow = Limit::new("shadowed", FixedWindow::new(TEN));
    let first = tokio::spawn(server.get("/"));
    gate.wait_until_inside(1).await;
    let second = tokio::spawn(server.get("/"));
    yield_until(async || clock.pending_sleeps() == 1).await;
    assert_eq!(store.left(&shadow, &Key::GLOBAL).await, 8);
    second.abort();
    yield_until(async || store.left(&shadow, &Key::GLOBAL).await == 9).await;
    // A request in its handler stays counted.
    first.abort();
    gate.wait_until_inside(0).await;
    assert_eq!(store.left(&shadow, &Key::GLOBAL).await, 9);
}

async fn an_exempt_client_that_disconnects_is_not_counted<St: TestStore>() {
    let ((store, clock), gate) = (St::fresh(), HandlerGate::new());
    let server = shadowed(&store, &gate).await;
    let clients = [(); 3].map(|()| tokio::spawn(Reply::to(server.request("/").header("x-exempt", "yes"))));
    gate.wait_until_inside(3).await;
    clients.iter().for_each(JoinHandle::abort);
    gate.wait_until_inside(0).await;
    assert_eq!(clock.pending_sleeps(), 0);
    let (queue, shadow) = (
        Limit::new("queue", one_a_second()),
        Limit::new("shadowed", FixedWindow::new(TEN)),
    );
    assert_eq!(store.left(&queue, &Key::GLOBAL).await, 10);
    assert_eq!(store.left(&shadow, &Key::GLOBAL).await, 10);
}
