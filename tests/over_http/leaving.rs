//! Clients who hang up while they are in a queue.

use tokio::task::JoinHandle;
use tollgate::{Global, Key, Limit, RateLimitLayer};

use support::held::{Held, SECOND};

use crate::over_http::{
    fixture::{Reply, Server, TestStore, on_both_stores, yielding},
    handlers::Keeper,
    queue::{left, limits, one_a_second, queue},
};

on_both_stores![
    the_last_in_the_queue_leaves_its_place,
    a_place_with_somebody_behind_it_stays_taken,
    a_client_that_is_being_served_has_no_place_to_leave,
];

/// A client hangs up, and what the other tier took comes back.
async fn leave<St: TestStore>(queue: &Held<St>, client: JoinHandle<Reply>) {
    let ((_, counted), held) = (left(&queue.store).await, queue.clock.waiting());
    client.abort();
    yielding(async || queue.clock.waiting() == held - 1).await;
    yielding(async || left(&queue.store).await.1 == counted + 1).await;
}

async fn the_last_in_the_queue_leaves_its_place<St: TestStore>() {
    let queue = queue::<St>(one_a_second()).await;
    assert_eq!(queue.get(0).await.status, 200);
    let first = queue.wait(1).await;
    let second = queue.wait(2).await;
    assert_eq!(left(&queue.store).await, (7, 97));
    leave(&queue, second).await;
    assert_eq!(left(&queue.store).await, (8, 98));
    // Whoever comes next is held for no longer than the one who left.
    let third = queue.wait(3).await;
    queue.clock.advance(SECOND);
    assert_eq!(first.await.unwrap().status, 200);
    queue.clock.advance(SECOND);
    assert_eq!(third.await.unwrap().limits(), limits(7, 619, 3));
    assert_eq!(queue.served(), [(0, 0), (1, 1_000_000), (3, 2_000_000)]);
}

async fn a_place_with_somebody_behind_it_stays_taken<St: TestStore>() {
    let queue = queue::<St>(one_a_second()).await;
    assert_eq!(queue.get(0).await.status, 200);
    let first = queue.wait(1).await;
    let second = queue.wait(2).await;
    leave(&queue, first).await;
    assert_eq!(left(&queue.store).await, (7, 98));
    // Nobody is served in that place, and the one behind it leaves when it was told to.
    queue.clock.advance(SECOND);
    assert_eq!((queue.served(), queue.clock.waiting()), (vec![(0, 0)], 1));
    let third = queue.wait(3).await;
    for held in [second, third] {
        queue.clock.advance(SECOND);
        assert_eq!(held.await.unwrap().status, 200);
    }
    assert_eq!(queue.served(), [(0, 0), (2, 2_000_000), (3, 3_000_000)]);
}

async fn a_client_that_is_being_served_has_no_place_to_leave<St: TestStore>() {
    let ((store, clock), keeper) = (St::fresh(), Keeper::new());
    let layer = RateLimitLayer::new("queue", one_a_second(), Global, store.clone());
    let server = Server::start(keeper.obliging().layer(layer)).await;
    let _first = tokio::spawn(server.get("/"));
    keeper.keeps(1).await;
    let second = tokio::spawn(server.get("/"));
    yielding(async || clock.waiting() == 1).await;
    clock.advance(SECOND);
    keeper.keeps(2).await;
    second.abort();
    keeper.keeps(1).await;
    assert_eq!(store.left(&Limit::new("queue", one_a_second()), &Key::GLOBAL).await, 9);
}
