//! A concurrency limit, against a counter with a script to acquire and another to release.

use tollgate::{Key, Limiter, RedisStore};

use crate::{
    naive::NaiveConcurrency,
    runner::{Pair, Runner},
    server::RedisServer,
    tier::Tier,
};

/// More than there are tasks, so that no request is denied.
const SLOTS: u32 = 1000;

/// Requests per second, each of which acquires a slot and releases it. As in a layer, a request does not wait for its release.
pub fn throughput(runner: &Runner, tiers: &[Tier; 1], tasks: usize) -> Pair {
    let servers = [RedisServer::start(), RedisServer::start()];
    let store = servers[0].store().build().expect("valid settings");
    let limiter = Limiter::concurrency("uploads", SLOTS, store);
    let keys: Vec<Key> = tiers[0].identities().map(Key::new).collect();
    let naive = NaiveConcurrency::new(&servers[1].url(), tiers[0].identities(), SLOTS);
    let serve_ours = move |number: usize| serve(limiter.clone(), keys[number % keys.len()].clone());
    let serve_naive = move |number: usize| naive.clone().serve(number);
    runner.alternate(
        |span| runner.requests_per_second(tasks, span, &serve_ours),
        |span| runner.requests_per_second(tasks, span, &serve_naive),
    )
}

async fn serve(limiter: Limiter<RedisStore>, key: Key) {
    let mut decision = limiter.check(&key).await.expect("Redis is up");
    drop(limiter.hold(&mut decision).expect("it was admitted"));
}
