//! A run of the soak, from the first process to the report.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use tokio::runtime::{Builder, Runtime};

use crate::{
    args::{End, SoakArgs},
    fault_injector::FaultInjector,
    faults::Fault,
    fleet::Fleet,
    invariants::{Resources, Run},
    limits::{DEADLINE, LIMIT, WINDOW},
    load::{Load, Record},
    node::Node,
    report,
    scenario::{FaultSequence, Scenario},
    stall_detector::StallDetector,
    support::random::Random,
    timeline::{Episode, Timeline},
    users::Users,
};

const WARM_UP: Duration = Duration::from_secs(1);
/// How often the warm-up is repeated until all connections are open.
const MAX_WARM_UPS: u32 = 30;

/// How long a process may take to close the connections of the load.
const MAX_CLOSE_DELAY: Duration = Duration::from_secs(60);

/// Injects faults, prints the report, and fails if an invariant was violated.
pub(crate) fn soak(args: &SoakArgs) -> Result<(), &'static str> {
    let mut soak = Soak::start(args.scenario);
    println!(
        "{}; limit of {LIMIT} requests in {WINDOW:?} per user and layer; deadline {DEADLINE:?}; {}; --seed {}\n",
        args.scenario.describe(&soak.users),
        args.end().describe(args.scenario.unit()),
        args.seed
    );
    let max_connections = soak.injector.max_connections();
    let (mut files, mut connections) = soak.warm_up(args.seed);
    // A stall of the machine may close a connection, which its process opens again with the next request.
    for _ in 0..MAX_WARM_UPS {
        if connections == max_connections {
            break;
        }
        (files, connections) = soak.warm_up(args.seed);
    }

    let load = soak.load(args.seed);
    soak.inject_faults(args, &load);
    let keys = soak.injector.keys();
    let records = load.stop(soak.runtime.handle());
    soak.record_stalls(None);
    let files_now = soak.wait_for_files(|now| {
        let are_closed = now.iter().zip(&files).all(|(now, before)| now <= before);
        are_closed && soak.injector.connections() <= connections
    });
    let resources = Resources {
        keys,
        files: (files, files_now),
        connections: (connections, soak.injector.connections()),
        max_connections,
    };
    let is_violated = report::print(&Run {
        scenario: args.scenario,
        records,
        timeline: soak.timeline,
        state_losses: soak.injector.state_losses,
        unhealthy: soak.unhealthy,
        resources,
    });
    match is_violated {
        true => Err("an invariant was violated"),
        false => Ok(()),
    }
}

/// The processes, the load's runtime, Redis, and the measurements.
struct Soak {
    runtime: Runtime,
    fleet: Fleet,
    injector: FaultInjector,
    users: Arc<Users>,
    machine_stalls: StallDetector,
    /// By node.
    redis_stalls: Vec<StallDetector>,
    timeline: Timeline,
    /// When a process reported its Redis store as not up during a calm, and the report.
    unhealthy: Vec<(Instant, String)>,
}

impl Soak {
    fn start(scenario: Scenario) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let nodes = scenario.start_nodes();
        let urls: Vec<_> = nodes.iter().map(Node::url).collect();
        Self {
            runtime: runtime.expect("a runtime"),
            fleet: Fleet::start(&urls),
            users: Arc::new(scenario.users(&nodes)),
            machine_stalls: StallDetector::start(|| {}),
            redis_stalls: nodes.iter().map(|node| StallDetector::start(node.pinger())).collect(),
            timeline: Timeline::new(nodes.len() as u32),
            injector: FaultInjector::new(nodes),
            unhealthy: Vec::new(),
        }
    }

    fn load(&self, seed: u64) -> Load {
        Load::start(self.runtime.handle(), self.fleet.urls(), &self.users, seed)
    }

    /// The number of open files of each process, once `is_expected` holds or the timeout has elapsed.
    fn wait_for_files(&self, is_expected: impl Fn(&Vec<usize>) -> bool) -> Vec<usize> {
        let end = Instant::now() + MAX_CLOSE_DELAY;
        loop {
            let files = self.fleet.open_files();
            if is_expected(&files) || Instant::now() > end {
                return files;
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Runs the load for a second, and returns the number of open files and connections after it.
    fn warm_up(&self, seed: u64) -> (Vec<usize>, usize) {
        let load = self.load(seed);
        thread::sleep(WARM_UP);
        load.stop(self.runtime.handle());
        let files = self.wait_for_files(|files| {
            // Until the numbers are stable.
            thread::sleep(Duration::from_millis(300));
            *files == self.fleet.open_files()
        });
        (files, self.injector.connections())
    }

    /// A calm, then one fault after another with a calm after each.
    fn inject_faults(&mut self, args: &SoakArgs, load: &Load) {
        let scenario = args.scenario;
        let (fault_duration, calm_duration) = (scenario.fault_duration(), scenario.calm_duration());
        let (mut random, mut faults) = (Random::seeded(args.seed), FaultSequence::new(scenario));
        let start = Instant::now();
        thread::sleep(calm_duration.0);
        while !self.is_finished(args.end(), start) {
            let (fault, node) = faults.next(&mut random);
            let duration = random.duration(fault_duration.0, fault_duration.1);
            let began = Instant::now();
            if let Fault::Latency { rate, .. } = fault {
                load.set_rate(rate);
            }
            self.injector.inject(fault, node, duration, random.fork());
            let repaired = Instant::now();
            thread::sleep(random.duration(calm_duration.0, calm_duration.1));
            if fault.is_outage() {
                self.check_health(fault);
            }
            self.record_stalls(fault.is_outage().then_some((node, repaired)));
            let episode = Episode {
                fault,
                node,
                began,
                repaired,
                ended: Instant::now(),
            };
            let end = args.end().describe(scenario.unit());
            progress(start.elapsed(), &end, &episode, &load.records());
            self.timeline.episodes.push(episode);
        }
    }

    /// Records the processes that report a node as down at the end of a calm.
    fn check_health(&mut self, fault: Fault) {
        for health in self.fleet.health(self.runtime.handle()) {
            if !health.split("; ").all(|node| node.ends_with(" is up")) {
                let report = format!("at the end of the calm after: {fault}: {health}");
                self.unhealthy.push((Instant::now(), report));
            }
        }
    }

    fn is_finished(&self, end: End, start: Instant) -> bool {
        match end {
            End::After(length) => start.elapsed() >= length,
            End::Faults(count) => self.timeline.episodes.len() >= count,
        }
    }

    /// Records the stalls so far. Slow replies of a node before it was repaired are not stalls of the machine.
    fn record_stalls(&mut self, outage: Option<(usize, Instant)>) {
        for (node, detector) in self.redis_stalls.iter().enumerate() {
            let repaired = outage.filter(|outage| outage.0 == node).map(|outage| outage.1);
            let stalls = detector.take().into_iter();
            let stalls = stalls.filter(|stall| repaired.is_none_or(|repaired| stall.from > repaired));
            self.timeline.stalls.extend(stalls);
        }
        self.timeline.stalls.extend(self.machine_stalls.take());
        self.timeline.stalls.extend(self.fleet.stalls(self.runtime.handle()));
    }
}

fn progress(elapsed: Duration, end: &str, episode: &Episode, records: &[Record]) {
    let result = match episode.fault.is_outage() {
        true => {
            let recovered = episode.recovery(records).map(|recovery| match recovery.first {
                Some(after) => format!("{after:.0?}"),
                None => "never".into(),
            });
            format!(
                "Redis in use again after {}; {} requests",
                recovered.join(", "),
                records.len()
            )
        }
        false => {
            let is_recent = |record: &&Record| record.ended >= episode.began;
            let recent: Vec<_> = records.iter().rev().take_while(is_recent).collect();
            let by_redis = recent.iter().filter(|record| record.is_decided_by_redis()).count();
            format!("Redis decided {by_redis} of {} requests", recent.len())
        }
    };
    println!(
        "{:4.0} s of {end}: {:20} for {:.1} s; {result}",
        elapsed.as_secs_f64(),
        episode.fault,
        (episode.repaired - episode.began).as_secs_f64(),
    );
}
