//! Requests that the store sends in one batch.

use tokio::task::{JoinSet, yield_now};
use tollgate::redis::Connection;

use support::redis::query;

use crate::hazards::fixture::{Node, Tally};

/// The number of calls in flight before further requests are queued, on a node with this maximum: one that a request sends
/// inline, and one that the sender task sends.
pub(crate) const IN_FLIGHT: u64 = 2;

/// Sends a call for each of the first [`IN_FLIGHT`] users and one for all the others, on a current-thread runtime. Redis is
/// paused and has executed none of them when `fault` runs.
pub(crate) async fn in_one_batch(
    node: &Node,
    redis: &mut Connection,
    users: impl IntoIterator<Item = &'static str>,
    fault: impl FnOnce(&mut Connection),
) -> Tally {
    query::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    let mut requests = JoinSet::new();
    for user in users {
        let node = node.clone();
        requests.spawn(async move { node.request(user).await });
        // Runs the spawned request, then the sender task.
        for _ in 0..2 {
            yield_now().await;
        }
    }
    fault(redis);
    query::<()>(redis, "CLIENT UNPAUSE");
    let mut tally = Tally::default();
    while let Some(response) = requests.join_next().await {
        tally.count(response.unwrap());
    }
    tally
}
