//! Six times the limit from four nodes, for eight windows. Redis is stopped with SIGSTOP in the middle of the third window, and continued
//! two seconds later.

use std::time::Duration;

use tokio::time::sleep_until;

use super::{MAX_WAIT, Measured, START_MARGIN, length};
use crate::{fleet::Fleet, limits::NODES, redis::RedisServer, traffic};

pub(super) const WINDOWS: u32 = 8;

const PAUSED_AT: Duration = Duration::from_millis(2450);
const RESUMED_AT: Duration = Duration::from_millis(4450);

pub async fn run(limiter: &'static str) -> Measured {
    let redis = RedisServer::start().await;
    let fleet = Fleet::start(limiter, redis.url(), NODES).await;
    let start = traffic::after_boundary(START_MARGIN).await;
    let pause = async {
        sleep_until(start + PAUSED_AT).await;
        redis.pause().await;
        sleep_until(start + RESUMED_AT).await;
        redis.resume().await;
    };
    let groups = traffic::overload(length(WINDOWS));
    let (late, ()) = tokio::join!(traffic::send(start, &groups, &fleet), pause);
    let requests = fleet.finish(MAX_WAIT).await;
    Measured { requests, late }
}
