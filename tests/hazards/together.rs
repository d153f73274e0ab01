//! Requests that leave as one call.

use tokio::task::{JoinSet, yield_now};
use tollgate::redis::Connection;

use support::redis::ask;

use crate::hazards::fixture::{Node, Tally};

/// How many calls are in flight when the others begin to wait, on a node with one lane: one that a request leads, and one
/// that the lane's task sends.
pub(crate) const IN_FLIGHT: u64 = 2;

/// Sends a call for each of the first [`IN_FLIGHT`] users and one for all the others, on a runtime of one thread. Redis has
/// none of it done when something befalls it.
pub(crate) async fn together(
    node: &Node,
    redis: &mut Connection,
    users: impl IntoIterator<Item = &'static str>,
    befall: impl FnOnce(&mut Connection),
) -> Tally {
    ask::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    let mut asked = JoinSet::new();
    for user in users {
        let node = node.clone();
        asked.spawn(async move { node.ask(user).await });
        // Whoever was spawned gets his turn before this goes on: a request, and then who sends it.
        for _ in 0..2 {
            yield_now().await;
        }
    }
    befall(redis);
    ask::<()>(redis, "CLIENT UNPAUSE");
    let mut seen = Tally::default();
    while let Some(answer) = asked.join_next().await {
        seen.count(answer.unwrap());
    }
    seen
}
