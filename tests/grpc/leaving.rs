//! Clients who leave while their calls are in a queue.

use tokio::task::JoinHandle;
use tollgate::{Global, Key, LeakyBucket, Limit, ManualClock, Quota, RateLimitLayer};
use tonic::Code;

use support::held::{SECOND, begin_to_wait};

use crate::grpc::fixture::{Answer, Client, Clinic, Server, TestStore, about, on_both_stores, yielding};

on_both_stores![
    a_call_that_is_dropped_leaves_its_place,
    a_connection_that_is_dropped_leaves_its_place,
];

fn one_a_second() -> LeakyBucket {
    LeakyBucket::new(Quota::per_second(1)).capacity(10)
}

struct Queue<St> {
    server: Server,
    clinic: Clinic,
    store: St,
    clock: ManualClock,
}

impl<St: TestStore> Queue<St> {
    async fn start() -> Self {
        let ((store, clock), clinic) = (St::fresh(), Clinic::default());
        let layer = RateLimitLayer::new("queue", one_a_second(), Global, store.clone());
        let server = Server::start(clinic.router().layer(layer)).await;
        Self {
            server,
            clinic,
            store,
            clock,
        }
    }

    /// Makes a call that is held, and waits until it is. The call takes the client with it.
    async fn hold(&self, client: Client, name: &str) -> JoinHandle<Answer> {
        let call = about(name);
        begin_to_wait(&self.clock, async move { client.send(call).await }).await
    }

    async fn left(&self) -> u64 {
        self.store
            .left(&Limit::new("queue", one_a_second()), &Key::GLOBAL)
            .await
    }

    /// Whoever comes when the second in the queue has left is held for no longer than that one.
    async fn the_third_is_second(&self, staying: Client, first: JoinHandle<Answer>) {
        yielding(async || self.clock.waiting() == 1 && self.left().await == 8).await;
        let third = self.hold(staying, "third").await;
        for (held, left) in [(first, "8"), (third, "7")] {
            self.clock.advance(SECOND);
            let answer = held.await.unwrap();
            assert_eq!(answer.code, Code::Ok);
            assert_eq!(answer.headers.line("x-ratelimit-remaining"), left);
        }
        let served = [("at once", 9), ("first", 8), ("third", 7)];
        assert_eq!(
            self.clinic.served(),
            served.map(|(name, left)| (name.to_owned(), vec![left]))
        );
    }
}

async fn a_call_that_is_dropped_leaves_its_place<St: TestStore>() {
    let queue = Queue::<St>::start().await;
    let client = Client::of(&queue.server);
    assert_eq!(client.send(about("at once")).await.code, Code::Ok);
    let first = queue.hold(client.clone(), "first").await;
    let second = queue.hold(client.clone(), "second").await;
    assert_eq!(queue.left().await, 7);
    // Others go on on the same connection.
    second.abort();
    queue.the_third_is_second(client, first).await;
}

async fn a_connection_that_is_dropped_leaves_its_place<St: TestStore>() {
    let queue = Queue::<St>::start().await;
    let [staying, leaving] = [(); 2].map(|()| Client::of(&queue.server));
    assert_eq!(staying.send(about("at once")).await.code, Code::Ok);
    let first = queue.hold(staying.clone(), "first").await;
    let second = queue.hold(leaving, "second").await;
    assert_eq!(queue.left().await, 7);
    second.abort();
    queue.the_third_is_second(staying, first).await;
}
