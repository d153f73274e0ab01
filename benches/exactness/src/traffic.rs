//! The traffic generator: sends requests to nodes at scheduled times, whether or not earlier ones were answered.

use std::time::{Duration, SystemTime};

use tokio::time::{Instant, sleep_until};

use crate::{
    fleet::Fleet,
    limits::{LIMIT, NODES, WINDOW},
};

/// Requests that a node receives at once. Not a divisor of the limit, so that groups straddle it.
const GROUP: u32 = 8;
/// What is offered, in multiples of the limit: more than all nodes admit if each of them applies the limit alone.
const OVERLOAD: u32 = 6;

/// A group of requests to a node, some time after the start.
#[derive(Clone, Copy)]
pub struct Group {
    pub at: Duration,
    pub node: usize,
    pub requests: u32,
}

/// Steady traffic of six times the limit, evenly over all nodes. Each node receives a group in each of its slots, at a random time
/// in the slot; the same in every run.
pub fn overload(length: Duration) -> Vec<Group> {
    let slot = WINDOW * GROUP * NODES as u32 / (OVERLOAD * LIMIT);
    let mut random = Random(1);
    let mut groups: Vec<_> = (0..NODES)
        .flat_map(|node| {
            let starts = (0..)
                .map(|number| slot * number)
                .take_while(|&start| start + slot <= length);
            starts.map(move |start| (node, start)).collect::<Vec<_>>()
        })
        .map(|(node, start)| Group {
            at: start + slot.mul_f64(random.fraction()),
            node,
            requests: GROUP,
        })
        .collect();
    groups.sort_by_key(|group| group.at);
    groups
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn fraction(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Waits until the system's clock is this long after the start of the next window that is aligned to the clock.
pub async fn after_boundary(offset: Duration) -> Instant {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.expect("a clock after 1970").as_nanos();
    let rest = WINDOW.as_nanos() - now % WINDOW.as_nanos();
    let start = Instant::now() + Duration::from_nanos(rest as u64) + offset;
    sleep_until(start).await;
    start
}

/// Sends the groups, and returns the longest delay of a group behind its schedule.
pub async fn send(start: Instant, groups: &[Group], fleet: &Fleet) -> Duration {
    let mut late = Duration::ZERO;
    for group in groups {
        sleep_until(start + group.at).await;
        late = late.max(start.elapsed().saturating_sub(group.at));
        for _ in 0..group.requests {
            fleet.send(group.node);
        }
    }
    late
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_overload_is_six_times_the_limit_and_equal_for_all_nodes() {
        let groups = overload(8 * WINDOW);
        let of_node = |node| groups.iter().filter(move |group| group.node == node);
        for node in 0..NODES {
            let requests: u32 = of_node(node).map(|group| group.requests).sum();
            assert_eq!(requests, 8 * OVERLOAD * LIMIT / NODES as u32);
        }
        assert!(groups.is_sorted_by_key(|group| group.at));
        assert!(groups.iter().all(|group| group.at < 8 * WINDOW));
    }
}
