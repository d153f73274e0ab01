//! The scenarios: what traffic is sent, and which fault happens meanwhile.

mod edge;
mod killed_node;
mod overload;
mod paused_redis;

use std::time::Duration;

use crate::{fleet::Request, limits::WINDOW, report::systems::Algorithm};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scenario {
    /// A burst before the edge of a window, and another one after it.
    Edge,
    /// More than the limit, from several nodes.
    Overload,
    /// Overload, and one node is killed and replaced.
    KilledNode,
    /// Overload, and Redis is paused for some time.
    PausedRedis,
}

/// What was measured of one system.
pub struct Measured {
    pub requests: Vec<Request>,
    /// The longest delay of the traffic generator behind its schedule.
    pub late: Duration,
}

/// Scenarios begin this long after the start of a window that is aligned to the clock..
const START_MARGIN: Duration = Duration::from_millis(5);
/// ..and end this long before the end of one.
const END_MARGIN: Duration = Duration::from_millis(50);
/// A limiter that waits for a paused Redis has this long to answer after the last request.
const MAX_WAIT: Duration = Duration::from_secs(5);

impl Scenario {
    pub const ALL: [Self; 4] = [Self::Edge, Self::Overload, Self::KilledNode, Self::PausedRedis];

    /// In results.csv.
    pub fn id(self) -> &'static str {
        match self {
            Self::Edge => "edge",
            Self::Overload => "overload",
            Self::KilledNode => "killed_node",
            Self::PausedRedis => "paused_redis",
        }
    }

    pub async fn run(self, limiter: &'static str) -> Measured {
        match self {
            Self::Edge => edge::run(limiter).await,
            Self::Overload => overload::run(limiter).await,
            Self::KilledNode => killed_node::run(limiter).await,
            Self::PausedRedis => paused_redis::run(limiter).await,
        }
    }

    /// The most that an algorithm allows in the whole run, which is offered more than that at any time. `None` for the bursts.
    ///
    /// `span` is the time from the first request to the answer of the last one that was admitted.
    pub fn allowance(self, algorithm: Algorithm, limit: u32, span: Duration) -> Option<u32> {
        let windows = match self {
            Self::Edge => return None,
            Self::Overload | Self::KilledNode => overload::WINDOWS,
            Self::PausedRedis => paused_redis::WINDOWS,
        };
        Some(match algorithm {
            // A full bucket at the start, and what flows in meanwhile.
            Algorithm::TokenBucket => limit + (f64::from(limit) * span.as_secs_f64() / WINDOW.as_secs_f64()) as u32,
            // The run is within so many windows of the clock, and shorter than so many windows that begin with its first request.
            Algorithm::FixedWindow | Algorithm::SlidingLog | Algorithm::SlidingCounter => limit * windows,
        })
    }
}

/// The length of a run within this number of windows of the clock.
fn length(windows: u32) -> Duration {
    windows * WINDOW - START_MARGIN - END_MARGIN
}
