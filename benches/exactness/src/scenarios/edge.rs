//! Two bursts of 1.5 times the limit, 300 ms before the edge of a window and 150 ms after it, to one node.
//!
//! Some limiters align windows to the clock, others begin a window with its first request. A first request just after the start of a
//! window of the clock makes both kinds of windows end between the two bursts.

use std::time::Duration;

use super::{MAX_WAIT, Measured, START_MARGIN};
use crate::{
    fleet::Fleet,
    limits::{LIMIT, WINDOW},
    redis::RedisServer,
    traffic::{self, Group},
};

const BEFORE_EDGE: Duration = Duration::from_millis(300);
const AFTER_EDGE: Duration = Duration::from_millis(150);
/// More than the limit, so that a limiter that admits too many requests of a burst shows it.
const BURST: u32 = LIMIT * 3 / 2;

pub async fn run(limiter: &'static str) -> Measured {
    let redis = RedisServer::start().await;
    let fleet = Fleet::start(limiter, redis.url(), 1).await;
    let edge = WINDOW - START_MARGIN;
    let group = |at, requests| Group { at, node: 0, requests };
    let groups = [
        group(Duration::ZERO, 1),
        group(edge - BEFORE_EDGE, BURST),
        group(edge + AFTER_EDGE, BURST),
    ];
    let start = traffic::after_boundary(START_MARGIN).await;
    let late = traffic::send(start, &groups, &fleet).await;
    let requests = fleet.finish(MAX_WAIT).await;
    Measured { requests, late }
}
