//! Clients that disconnect while a queue delays their calls.

use tokio::task::JoinHandle;
use tollgate::{Global, Key, LeakyBucket, Limit, ManualClock, Quota, RateLimitLayer, Tier};
use tonic::Code;

use support::queued_server::{SECOND, spawn_waiting};

use crate::grpc::fixture::{
    Client, GrpcReply, HealthService, Server, TestStore, check_request, on_both_stores, yield_until,
};

on_both_stores![a_cancelled_call_frees_its_place, a_closed_connection_frees_its_place,];

fn one_a_second() -> LeakyBucket {
    LeakyBucket::new(Quota::per_second(1)).capacity(10)
}

struct Queue<St> {
    server: Server,
    service: HealthService,
    store: St,
    clock: ManualClock,
}

impl<St: TestStore> Queue<St> {
    async fn start() -> Self {
        let ((store, clock), service) = (St::fresh(), HealthService::default());
        let layer = RateLimitLayer::new(Tier::new("queue", one_a_second(), Global), store.clone());
        let server = Server::start(service.router().layer(layer)).await;
        Self {
            server,
            service,
            store,
            clock,
        }
    }

    /// Starts a call that is delayed, and waits until the delay starts. The call owns the client.
    async fn delay(&self, client: Client, name: &str) -> JoinHandle<GrpcReply> {
        let call = check_request(name);
        spawn_waiting(&self.clock, async move { client.send(call).await }).await
    }

    async fn left(&self) -> u64 {
        self.store
            .left(&Limit::new("queue", one_a_second()), &Key::GLOBAL)
            .await
    }

    /// A new call takes the place of the cancelled second call, and is delayed no longer than it.
    async fn third_takes_the_second_place(&self, staying: Client, first: JoinHandle<GrpcReply>) {
        yield_until(async || self.clock.pending_sleeps() == 1 && self.left().await == 8).await;
        let third = self.delay(staying, "third").await;
        for (held, left) in [(first, "8"), (third, "7")] {
            self.clock.advance(SECOND);
            let reply = held.await.unwrap();
            assert_eq!(reply.code, Code::Ok);
            assert_eq!(reply.headers.line("x-ratelimit-remaining"), left);
        }
        let served = [("at once", 9), ("first", 8), ("third", 7)];
        assert_eq!(
            self.service.served(),
            served.map(|(name, left)| (name.to_owned(), vec![left]))
        );
    }
}

async fn a_cancelled_call_frees_its_place<St: TestStore>() {
    let queue = Queue::<St>::start().await;
    let client = Client::of(&queue.server);
    assert_eq!(client.send(check_request("at once")).await.code, Code::Ok);
    let first = queue.delay(client.clone(), "first").await;
    let second = queue.delay(client.clone(), "second").await;
    assert_eq!(queue.left().await, 7);
    // Other calls on the same connection continue.
    second.abort();
    queue.third_takes_the_second_place(client, first).await;
}

async fn a_closed_connection_frees_its_place<St: TestStore>() {
    let queue = Queue::<St>::start().await;
    let [staying, disconnecting] = [(); 2].map(|()| Client::of(&queue.server));
    assert_eq!(staying.send(check_request("at once")).await.code, Code::Ok);
    let first = queue.delay(staying.clone(), "first").await;
    let second = queue.delay(disconnecting, "second").await;
    assert_eq!(queue.left().await, 7);
    second.abort();
    queue.third_takes_the_second_place(staying, first).await;
}
