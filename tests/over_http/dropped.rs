//! Clients who hang up when their request costs more than one, or when its charge might yet be given back.

use axum::{
    extract::Request,
    middleware::{self, Next},
    response::Response,
};
use tokio::task::JoinHandle;
use tollgate::{FixedWindow, Global, Key, Limit, ManualClock, Quota, RateLimitLayer};

use support::{
    held::{SECOND, begin_to_wait},
    redis::{RedisServer, ask, info},
    rules::each_algorithm,
};

use crate::over_http::{
    fixture::{NOW, Reply, Server, TestStore, on_both_stores, yielding},
    handlers::{Keeper, asked, is_success},
    queue::{left, one_a_second},
};

on_both_stores![
    a_client_that_leaves_its_handler_keeps_its_charge,
    an_expensive_place_in_a_queue_is_given_back_whole,
    a_held_request_is_given_back_when_it_succeeds,
    a_held_request_with_somebody_behind_it_keeps_its_place,
    a_shadow_forgets_whoever_leaves_the_queue,
    an_exempt_client_that_leaves_leaves_nothing_behind,
];

const TEN: Quota = Quota::per_minute(10);

async fn a_client_that_leaves_its_handler_keeps_its_charge<St: TestStore>() {
    for rule in each_algorithm(TEN) {
        let ((store, _), keeper) = (St::fresh(), Keeper::new());
        let layer = RateLimitLayer::new("api", rule, Global, store.clone())
            .cost(asked)
            .refund_if(|_: &Response| true);
        let server = Server::start(keeper.obliging().layer(layer)).await;
        let client = tokio::spawn(Reply::to(server.request("/").header("x-cost", 3)));
        keeper.keeps(1).await;
        client.abort();
        keeper.keeps(0).await;
        assert_eq!(store.left(&Limit::new("api", rule), &Key::GLOBAL).await, 7, "{rule:?}");
    }
}

/// A queue, beside a count of all that is asked for, behind which requests are kept.
struct Queue<St> {
    server: Server,
    store: St,
    clock: ManualClock,
    keeper: Keeper,
}

impl<St: TestStore> Queue<St> {
    async fn start() -> Self {
        let ((store, clock), keeper) = (St::fresh(), Keeper::new());
        let layer = RateLimitLayer::new("queue", one_a_second(), Global, store.clone())
            .cost(asked)
            .refund_if(is_success)
            .tier("count", FixedWindow::new(Quota::per_day(100)), Global)
            .cost(asked)
            .unlisted();
        let server = Server::start(keeper.obliging().layer(layer)).await;
        Self {
            server,
            store,
            clock,
            keeper,
        }
    }

    fn reply(&self, cost: u64, status: u16) -> impl Future<Output = Reply> + Send + use<St> {
        let request = self.server.request("/").header("x-cost", cost);
        Reply::to(request.header("x-status", status))
    }

    /// Sends a request that is held, and waits until it is.
    async fn hold(&self, cost: u64, status: u16) -> JoinHandle<Reply> {
        begin_to_wait(&self.clock, self.reply(cost, status)).await
    }

    async fn left(&self) -> (u64, u64) {
        left(&self.store).await
    }

    /// A failure that costs one is answered, and stays in the queue.
    async fn begin(&self) {
        let first = tokio::spawn(self.reply(1, 401));
        self.keeper.keeps(1).await;
        self.keeper.let_go(1);
        assert_eq!(first.await.unwrap().status, 401);
        assert_eq!(self.left().await, (9, 99));
    }
}

async fn an_expensive_place_in_a_queue_is_given_back_whole<St: TestStore>() {
    let queue = Queue::<St>::start().await;
    queue.begin().await;
    let first = queue.hold(3, 200).await;
    let second = queue.hold(5, 200).await;
    assert_eq!(queue.left().await, (1, 91));
    for (client, held, left) in [(second, 1, (6, 96)), (first, 0, (9, 99))] {
        client.abort();
        yielding(async || queue.clock.waiting() == held).await;
        yielding(async || queue.left().await == left).await;
    }
    assert_eq!(queue.keeper.inside(), 0);
}

async fn a_held_request_is_given_back_when_it_succeeds<St: TestStore>() {
    let queue = Queue::<St>::start().await;
    queue.begin().await;
    let held = queue.hold(3, 200).await;
    assert_eq!(queue.left().await, (6, 96));
    queue.clock.advance(SECOND);
    queue.keeper.keeps(1).await;
    assert_eq!(queue.left().await, (7, 96));
    queue.keeper.let_go(1);
    // The queue is as good as new, and the next is not held.
    let limits = r#"10 10 617 | "queue";q=10;w=10 | "queue";r=10;t=0"#;
    assert_eq!(held.await.unwrap().all(), (200, "-".into(), limits.into()));
    assert_eq!(queue.left().await, (10, 96));
    let _next = tokio::spawn(queue.reply(1, 200));
    queue.keeper.keeps(1).await;
}

async fn a_held_request_with_somebody_behind_it_keeps_its_place<St: TestStore>() {
    let queue = Queue::<St>::start().await;
    queue.begin().await;
    let first = queue.hold(3, 200).await;
    let second = queue.hold(2, 200).await;
    queue.clock.advance(SECOND);
    queue.keeper.keeps(1).await;
    queue.keeper.let_go(1);
    // The one behind it has been told when to leave, so there is nothing to give back.
    let limits = r#"10 5 622 | "queue";q=10;w=10 | "queue";r=5;t=5"#;
    assert_eq!(first.await.unwrap().all(), (200, "-".into(), limits.into()));
    assert_eq!(queue.left().await, (5, 94));
    queue.clock.advance(3 * SECOND);
    queue.keeper.keeps(1).await;
    queue.keeper.let_go(1);
    assert_eq!(second.await.unwrap().remaining(), "10");
    assert_eq!(queue.left().await, (10, 94));
}

/// The handler has answered, so the charge is given back, whoever waits for it.
#[tokio::test]
async fn a_refund_that_is_under_way_is_seen_through() {
    let (server, keeper) = (RedisServer::start(), Keeper::new());
    let redis = &mut server.client();
    let store = server.store().clock(ManualClock::at(NOW)).build().unwrap();
    let layer = RateLimitLayer::fixed_window("api", TEN, Global, store.clone()).refund_if(is_success);
    let connected = Keeper::new();
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
    let app = keeper.obliging().layer(layer).layer(middleware::from_fn(watch));
    let http = Server::start(app).await;
    let client = tokio::spawn(http.get("/"));
    keeper.keeps(1).await;
    let limit = Limit::new("api", FixedWindow::new(TEN));
    assert_eq!(store.left(&limit, &Key::GLOBAL).await, 9);
    ask::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    keeper.let_go(1);
    yielding(async || info(redis, "clients", "blocked_clients:") == 1).await;
    client.abort();
    connected.keeps(0).await;
    ask::<()>(redis, "CLIENT UNPAUSE");
    yielding(async || store.left(&limit, &Key::GLOBAL).await == 10).await;
}

/// A queue, and a count that is only watched.
async fn watched<St: TestStore>(store: &St, keeper: &Keeper) -> Server {
    let layer = RateLimitLayer::new("queue", one_a_second(), Global, store.clone())
        .tier("watched", FixedWindow::new(TEN), Global)
        .shadow()
        .exempt(|request: &Request| request.headers().contains_key("x-exempt"));
    Server::start(keeper.obliging().layer(layer)).await
}

async fn a_shadow_forgets_whoever_leaves_the_queue<St: TestStore>() {
    let ((store, clock), keeper) = (St::fresh(), Keeper::new());
    let server = watched(&store, &keeper).await;
    let shadow = Limit::new("watched", FixedWindow::new(TEN));
    let first = tokio::spawn(server.get("/"));
    keeper.keeps(1).await;
    let second = tokio::spawn(server.get("/"));
    yielding(async || clock.waiting() == 1).await;
    assert_eq!(store.left(&shadow, &Key::GLOBAL).await, 8);
    second.abort();
    yielding(async || store.left(&shadow, &Key::GLOBAL).await == 9).await;
    // What is being served stays counted.
    first.abort();
    keeper.keeps(0).await;
    assert_eq!(store.left(&shadow, &Key::GLOBAL).await, 9);
}

async fn an_exempt_client_that_leaves_leaves_nothing_behind<St: TestStore>() {
    let ((store, clock), keeper) = (St::fresh(), Keeper::new());
    let server = watched(&store, &keeper).await;
    let clients = [(); 3].map(|()| tokio::spawn(Reply::to(server.request("/").header("x-exempt", "yes"))));
    keeper.keeps(3).await;
    clients.iter().for_each(JoinHandle::abort);
    keeper.keeps(0).await;
    assert_eq!(clock.waiting(), 0);
    let (queue, shadow) = (
        Limit::new("queue", one_a_second()),
        Limit::new("watched", FixedWindow::new(TEN)),
    );
    assert_eq!(store.left(&queue, &Key::GLOBAL).await, 10);
    assert_eq!(store.left(&shadow, &Key::GLOBAL).await, 10);
}
