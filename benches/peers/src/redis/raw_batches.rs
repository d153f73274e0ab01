//! The same script without our client: batches encoded beforehand, sent one after another on each connection.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{runtime::Runtime, task::JoinSet};
use tollgate::{
    fuzzing::SCRIPT,
    redis::{Client, Cmd, aio::MultiplexedConnection, cmd},
};

use super::encode::{acquire_each, count_values};
use crate::{rng::Rng, server::RedisServer, tier::Tier};

/// The number of requests in a call.
const BATCH: usize = 64;
/// The number of connections, each with one call in flight: the default of a store.
const CONNECTIONS: usize = 2;
/// The number of calls that are encoded beforehand. In total they charge each user many times.
const CALLS: usize = 1000;

pub struct RawBatches {
    connections: Vec<MultiplexedConnection>,
    calls: Arc<[Cmd]>,
}

impl RawBatches {
    pub async fn new(server: &RedisServer, tier: &Tier) -> Self {
        let client = Client::open(server.url()).expect("a valid address");
        let mut connections = Vec::new();
        for _ in 0..CONNECTIONS {
            let connection = client.get_multiplexed_async_connection().await;
            connections.push(connection.expect("Redis is up"));
        }
        let mut load = cmd("SCRIPT");
        load.arg("LOAD").arg(SCRIPT);
        let sha: String = load.query_async(&mut connections[0]).await.expect("the script loads");
        let identities: Vec<String> = tier.identities().collect();
        let mut rng = Rng::new(0);
        let calls = (0..CALLS).map(|_| acquire_each(&sha, &distinct_keys(&identities, &mut rng)));
        Self {
            connections,
            calls: calls.collect(),
        }
    }

    pub fn requests_per_second(&self, runtime: &Runtime, span: Duration) -> f64 {
        runtime.block_on(async {
            let start = Instant::now();
            let mut running = JoinSet::new();
            for (seed, connection) in self.connections.iter().enumerate() {
                let (mut connection, calls, mut rng) = (connection.clone(), Arc::clone(&self.calls), Rng::new(seed));
                running.spawn(async move {
                    let mut done = 0;
                    while start.elapsed() < span {
                        let call = &calls[rng.next() % calls.len()];
                        let reply: Vec<u8> = call.query_async(&mut connection).await.expect("the script runs");
                        assert_eq!(count_values(&reply), 1 + 6 * BATCH);
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

/// The keys of a batch, as the store names them. A call must not contain a key twice.
fn distinct_keys(identities: &[String], rng: &mut Rng) -> Vec<String> {
    let mut keys = Vec::with_capacity(BATCH);
    while keys.len() < BATCH {
        let identity = &identities[rng.next() % identities.len()];
        let key = format!("rate_limit:token_bucket:user:1000000:{identity}");
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}
