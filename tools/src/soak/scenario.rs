//! The scenarios: what happens to Redis, and under which load.

use std::time::Duration;

use clap::ValueEnum;

use crate::{
    cluster,
    faults::Fault,
    limits::{DEADLINE, PROCESSES, USERS},
    load::REQUEST_INTERVAL,
    node::Node,
    support::random::Random,
    users::Users,
};

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Scenario {
    /// One Redis fails in twelve ways
    Faults,
    /// One Redis is at several distances, under several loads
    Latency,
    /// One node of a cluster is slow, frozen or killed
    Cluster,
}

/// The round trips of the latency scenario, in percent of the deadline.
const ROUND_TRIPS: [u32; 5] = [0, 10, 30, 50, 70];

/// The requests a second of the latency scenario, to all processes. Two cores carry the highest rate in a release build.
const RATES: [u32; 2] = [200, 2000];

/// The shortest and the longest time of something.
type Range = (Duration, Duration);

const fn seconds(min: u64, max: u64) -> Range {
    (Duration::from_secs(min), Duration::from_secs(max))
}

impl Scenario {
    /// The faults, each with the index of its node.
    pub(crate) fn faults(self) -> Vec<(Fault, usize)> {
        match self {
            Self::Faults => Fault::OUTAGES.map(|fault| (fault, 0)).to_vec(),
            Self::Latency => {
                let at_each_rate = |percent| RATES.map(|rate| (latency(percent, rate), 0));
                ROUND_TRIPS.into_iter().flat_map(at_each_rate).collect()
            }
            Self::Cluster => {
                let of_each_node = |fault| (0..cluster::NODES).map(move |node| (fault, node));
                Fault::NODE_OUTAGES.into_iter().flat_map(of_each_node).collect()
            }
        }
    }

    pub(crate) fn fault_duration(self) -> Range {
        match self {
            Self::Faults | Self::Cluster => seconds(1, 4),
            Self::Latency => seconds(3, 4),
        }
    }

    /// The time between two faults.
    pub(crate) fn calm_duration(self) -> Range {
        match self {
            Self::Faults | Self::Cluster => seconds(2, 4),
            Self::Latency => seconds(0, 0),
        }
    }

    pub(crate) fn start_nodes(self) -> Vec<Node> {
        match self {
            Self::Faults | Self::Latency => vec![Node::standalone()],
            Self::Cluster => cluster::start(),
        }
    }

    /// The users, given the nodes that have their keys.
    pub(crate) fn users(self, nodes: &[Node]) -> Users {
        match self {
            // The load of all other users together just reaches their limits.
            Self::Faults => Users::new(USERS, 2, |_| 0),
            // Redis decides most requests: denials come from the denial cache.
            Self::Latency => Users::new(300, 8, |_| 0),
            Self::Cluster => Users::new(24, 8, |key| cluster::node_of(&nodes[0], key)),
        }
    }

    /// Describes Redis and the load.
    pub(crate) fn describe(self, users: &Users) -> String {
        let redis = match self {
            Self::Faults | Self::Latency => "one Redis".to_owned(),
            Self::Cluster => format!("a cluster of {} nodes", cluster::NODES),
        };
        let rates = match self {
            Self::Faults | Self::Cluster => (1000 / REQUEST_INTERVAL.as_millis()).to_string(),
            Self::Latency => RATES.map(|rate| (rate / PROCESSES as u32).to_string()).join(" or "),
        };
        let users = users.count();
        format!("{PROCESSES} processes on {redis}, {rates} requests a second to each, {users} users")
    }

    /// What a run consists of.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Self::Faults | Self::Cluster => "faults",
            Self::Latency => "phases",
        }
    }
}

fn latency(percent: u32, rate: u32) -> Fault {
    let round_trip = DEADLINE * percent / 100;
    Fault::Latency { round_trip, rate }
}

/// All faults of a scenario in random order, repeatedly, so that a few minutes cover each of them.
pub(crate) struct FaultSequence {
    scenario: Scenario,
    left: Vec<(Fault, usize)>,
}

impl FaultSequence {
    pub(crate) fn new(scenario: Scenario) -> Self {
        let left = Vec::new();
        Self { scenario, left }
    }

    pub(crate) fn next(&mut self, random: &mut Random) -> (Fault, usize) {
        if self.left.is_empty() {
            self.left = self.scenario.faults();
            random.shuffle(&mut self.left);
        }
        self.left.pop().expect("the sequence has just been filled")
    }
}
