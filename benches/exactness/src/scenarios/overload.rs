//! Six times the limit from four nodes, for six windows.

use super::{MAX_WAIT, Measured, START_MARGIN, length};
use crate::{fleet::Fleet, limits::NODES, redis::RedisServer, traffic};

pub(super) const WINDOWS: u32 = 6;

pub async fn run(limiter: &'static str) -> Measured {
    let redis = RedisServer::start().await;
    let fleet = Fleet::start(limiter, redis.url(), NODES).await;
    let start = traffic::after_boundary(START_MARGIN).await;
    let late = traffic::send(start, &traffic::overload(length(WINDOWS)), &fleet).await;
    let requests = fleet.finish(MAX_WAIT).await;
    Measured { requests, late }
}
