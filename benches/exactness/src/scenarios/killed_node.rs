//! Six times the limit from four nodes, for six windows. In the middle of the third window one node is killed, and replaced by another
//! process at once.

use std::time::Duration;

use tokio::time::sleep_until;

use super::{Measured, START_MARGIN, length, overload::WINDOWS};
use crate::{fleet::Fleet, limits::NODES, redis::RedisServer, traffic};

const KILLED_AT: Duration = Duration::from_millis(2450);

pub async fn run(limiter: &'static str) -> Measured {
    let redis = RedisServer::start().await;
    let fleet = Fleet::start(limiter, redis.url(), NODES).await;
    let start = traffic::after_boundary(START_MARGIN).await;
    let kill = async {
        sleep_until(start + KILLED_AT).await;
        fleet.replace(NODES - 1).await;
    };
    let groups = traffic::overload(length(WINDOWS));
    let (late, ()) = tokio::join!(traffic::send(start, &groups, &fleet), kill);
    // What the killed node had not answered stays unanswered.
    let requests = fleet.finish(Duration::from_millis(500)).await;
    Measured { requests, late }
}
