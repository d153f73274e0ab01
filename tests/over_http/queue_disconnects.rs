//! Clients that disconnect while a queue delays their requests.

use tokio::task::JoinHandle;
use tollgate::{Global, Key, Limit, RateLimitLayer, Tier};

use support::queued_server::{QueuedServer, SECOND};

use crate::over_http::{
    fixture::{HandlerGate, Reply, Server, TestStore, on_both_stores, yield_until},
    queue::{left, limits, one_a_second, queue},
};

on_both_stores![
    a_disconnect_at_the_end_of_the_queue_frees_its_place,
    a_place_with_others_behind_it_stays_taken,
    a_disconnect_during_the_handler_frees_no_place,
];

/// Disconnects a client, and waits until the other tier is refunded.
async fn disconnect<St: TestStore>(queue: &QueuedServer<St>, client: JoinHandle<Reply>) {
    let ((_, counted), held) = (left(&queue.store).await, queue.clock.pending_sleeps());
    client.abort();
    yield_until(async || queue.clock.pending_sleeps() == held - 1).await;
    yield_until(async || left(&queue.store).await.1 == counted + 1).await;
}

async fn a_disconnect_at_the_end_of_the_queue_frees_its_place<St: TestStore>() {
    let queue = queue::<St>(one_a_second()).await;
    assert_eq!(queue.get(0).await.status, 200);
    let first = queue.wait(1).await;
    let second = queue.wait(2).await;
    assert_eq!(left(&queue.store).await, (7, 97));
    disconnect(&queue, second).await;
    assert_eq!(left(&queue.store).await, (8, 98));
    // The next request takes the place of the disconnected one.
    let third = queue.wait(3).await;
    queue.clock.advance(SECOND);
    assert_eq!(first.await.unwrap().status, 200);
    queue.clock.advance(SECOND);
    assert_eq!(third.await.unwrap().limits(), limits(7, 619, 7));
    assert_eq!(queue.served(), [(0, 0), (1, 1_000_000), (3, 2_000_000)]);
}

async fn a_place_with_others_behind_it_stays_taken<St: TestStore>() {
    let queue = queue::<St>(one_a_second()).await;
    assert_eq!(queue.get(0).await.status, 200);
    let first = queue.wait(1).await;
    let second = queue.wait(2).await;
    disconnect(&queue, first).await;
    assert_eq!(left(&queue.store).await, (7, 98));
    // The place stays empty, and the request behind it departs at its original time.
    queue.clock.advance(SECOND);
    assert_eq!((queue.served(), queue.clock.pending_sleeps()), (vec![(0, 0)], 1));
    let third = queue.wait(3).await;
    for held in [second, third] {
        queue.clock.advance(SECOND);
        assert_eq!(held.await.unwrap().status, 200);
    }
    assert_eq!(queue.served(), [(0, 0), (2, 2_000_000), (3, 3_000_000)]);
}

async fn a_disconnect_during_the_handler_frees_no_place<St: TestStore>() {
    let ((store, clock), gate) = (St::fresh(), HandlerGate::new());
    let layer = RateLimitLayer::new(Tier::new("queue", one_a_second(), Global), store.clone());
    let server = Server::start(gate.scripted_app().layer(layer)).await;
    let _first = tokio::spawn(server.get("/"));
    gate.wait_until_inside(1).await;
    let second = tokio::spawn(server.get("/"));
    yield_until(async || clock.pending_sleeps() == 1).await;
    clock.advance(SECOND);
    gate.wait_until_inside(2).await;
    second.abort();
    gate.wait_until_inside(1).await;
    assert_eq!(store.left(&Limit::new("queue", one_a_second()), &Key::GLOBAL).await, 9);
}
