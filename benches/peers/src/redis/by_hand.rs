//! The same program without us: batches that are encoded beforehand, sent as fast as they are answered.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{runtime::Runtime, task::JoinSet};
use tollgate::redis::{Client, Cmd, aio::MultiplexedConnection, cmd};

use super::arguments::{PROGRAM, acquire_each, values};
use crate::{picks::Picks, server::RedisServer, tier::Tier};

/// How many requests travel in one call.
const BATCH: usize = 64;
/// How many connections there are, each with a call in flight: as many as a store has by default.
const CONNECTIONS: usize = 2;
/// How many calls are encoded beforehand. Together they come by the users many times.
const CALLS: usize = 1000;

pub struct ByHand {
    connections: Vec<MultiplexedConnection>,
    calls: Arc<[Cmd]>,
}

impl ByHand {
    pub async fn new(server: &RedisServer, tier: &Tier) -> Self {
        let client = Client::open(server.url()).expect("the address is ours");
        let mut connections = Vec::new();
        for _ in 0..CONNECTIONS {
            let connection = client.get_multiplexed_async_connection().await;
            connections.push(connection.expect("Redis is up"));
        }
        let mut load = cmd("SCRIPT");
        load.arg("LOAD").arg(PROGRAM);
        let sha: String = load.query_async(&mut connections[0]).await.expect("the program loads");
        let identities: Vec<String> = tier.identities().collect();
        let mut picks = Picks::new(0);
        let calls = (0..CALLS).map(|_| acquire_each(&sha, &some_keys(&identities, &mut picks)));
        Self {
            connections,
            calls: calls.collect(),
        }
    }

    pub fn requests_a_second(&self, runtime: &Runtime, span: Duration) -> f64 {
        runtime.block_on(async {
            let start = Instant::now();
            let mut running = JoinSet::new();
            for (seed, connection) in self.connections.iter().enumerate() {
                let (mut connection, calls, mut picks) =
                    (connection.clone(), Arc::clone(&self.calls), Picks::new(seed));
                running.spawn(async move {
                    let mut done = 0;
                    while start.elapsed() < span {
                        let call = &calls[picks.next() % calls.len()];
                        let reply: Vec<u8> = call.query_async(&mut connection).await.expect("the program runs");
                        assert_eq!(values(&reply), 1 + 6 * BATCH);
                        done += BATCH;
                    }
                    done
                });
            }
            let done: usize = running.join_all().await.into_iter().sum();
            done as f64 / start.elapsed().as_secs_f64()
        })
    }
}

/// A batch of keys, as the store names them. A key is in a call once, so users are picked until they differ.
fn some_keys(identities: &[String], picks: &mut Picks) -> Vec<String> {
    let mut keys = Vec::with_capacity(BATCH);
    while keys.len() < BATCH {
        let identity = &identities[picks.next() % identities.len()];
        let key = format!("rate_limit:token_bucket:user:1000000:{identity}");
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}
