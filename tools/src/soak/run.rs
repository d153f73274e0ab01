//! A run of the soak, from the first process to the report.

use std::{
    thread,
    time::{Duration, Instant},
};

use tokio::runtime::{Builder, Runtime};

use crate::{
    args::{End, SoakArgs},
    fault_injector::FaultInjector,
    faults::FaultSequence,
    fleet::Fleet,
    invariants::{Resources, Run},
    limits::{DEADLINE, LIMIT, PROCESSES, USERS, WINDOW},
    load::{Load, REQUEST_INTERVAL},
    report,
    stall_detector::StallDetector,
    support::random::Random,
    timeline::{Episode, Timeline},
};

const WARM_UP: Duration = Duration::from_secs(1);
/// How often the warm-up is repeated until all connections are open.
const MAX_WARM_UPS: u32 = 30;
/// Two of each process, and the pinger's.
const CONNECTIONS: usize = 2 * PROCESSES + 1;
const FAULT_DURATION: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(4));
const CALM_DURATION: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(4));

/// How long a process may take to close the connections of the load.
const MAX_CLOSE_DELAY: Duration = Duration::from_secs(5);

/// Injects faults, prints the report, and fails if an invariant was violated.
pub(crate) fn soak(args: &SoakArgs) -> Result<(), &'static str> {
    let (end, seed) = (args.end(), &args.seed);
    let rate = 1000 / REQUEST_INTERVAL.as_millis();
    println!(
        "{PROCESSES} processes on one Redis, {rate} requests a second to each, {USERS} users; limit of {LIMIT} requests in {WINDOW:?} \
         per user and layer; deadline {DEADLINE:?}; {end}; --seed {seed}\n"
    );
    let mut soak = Soak::start();
    let (mut files, mut connections) = soak.warm_up(*seed);
    // A stall of the machine may close a connection, which its process opens again with the next request.
    for _ in 0..MAX_WARM_UPS {
        if connections == CONNECTIONS {
            break;
        }
        (files, connections) = soak.warm_up(*seed);
    }

    let load = soak.load(*seed);
    soak.inject_faults(args, &load);
    let calm = Instant::now();
    let keys = soak.injector.keys();
    let records = load.stop(soak.runtime.handle());
    soak.record_stalls(calm);
    let files_now = soak.wait_for_files(|now| {
        let are_closed = now.iter().zip(&files).all(|(now, before)| now <= before);
        are_closed && soak.injector.connections() <= connections
    });
    let resources = Resources {
        keys,
        files: (files, files_now),
        connections: (connections, soak.injector.connections()),
    };
    let all_hold = report::print(&Run {
        records,
        timeline: soak.timeline,
        state_losses: soak.injector.state_losses,
        unhealthy: soak.unhealthy,
        resources,
    });
    all_hold.then_some(()).ok_or("an invariant was violated")
}

/// The processes, the load's runtime, Redis, and the measurements.
struct Soak {
    runtime: Runtime,
    fleet: Fleet,
    injector: FaultInjector,
    machine_stalls: StallDetector,
    redis_stalls: StallDetector,
    timeline: Timeline,
    /// When a process reported its Redis store as not up during a calm, and the report.
    unhealthy: Vec<(Instant, String)>,
}

impl Soak {
    fn start() -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let injector = FaultInjector::start();
        Self {
            runtime: runtime.expect("a runtime"),
            fleet: Fleet::start(&injector.url()),
            machine_stalls: StallDetector::start(|| {}),
            redis_stalls: StallDetector::start(injector.pinger()),
            injector,
            timeline: Timeline::default(),
            unhealthy: Vec::new(),
        }
    }

    fn load(&self, seed: u64) -> Load {
        Load::start(self.runtime.handle(), self.fleet.urls(), seed)
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
        let (mut random, mut faults) = (Random::seeded(args.seed), FaultSequence::default());
        let start = Instant::now();
        thread::sleep(CALM_DURATION.0);
        while !self.is_finished(args.end(), start) {
            let fault = faults.next(&mut random);
            let duration = random.duration(FAULT_DURATION.0, FAULT_DURATION.1);
            let began = Instant::now();
            self.injector.inject(fault, duration, random.fork());
            let repaired = Instant::now();
            thread::sleep(random.duration(CALM_DURATION.0, CALM_DURATION.1));
            for health in self.fleet.health(self.runtime.handle()) {
                if !health.ends_with(" is up") {
                    let report = format!("at the end of the calm after: {}: {health}", fault.name());
                    self.unhealthy.push((Instant::now(), report));
                }
            }
            self.record_stalls(repaired);
            let episode = Episode {
                fault,
                began,
                repaired,
                ended: Instant::now(),
            };
            progress(start.elapsed(), args.end(), &episode, load);
            self.timeline.episodes.push(episode);
        }
    }

    fn is_finished(&self, end: End, start: Instant) -> bool {
        match end {
            End::After(length) => start.elapsed() >= length,
            End::Faults(count) => self.timeline.episodes.len() >= count,
        }
    }

    /// Records the stalls so far. Slow replies of Redis during a fault are not stalls of the machine.
    fn record_stalls(&mut self, calm: Instant) {
        let redis = self.redis_stalls.take().into_iter().filter(|stall| stall.from > calm);
        let machine = self.machine_stalls.take().into_iter();
        let fleet = self.fleet.stalls(self.runtime.handle());
        self.timeline.stalls.extend(machine.chain(fleet).chain(redis));
    }
}

fn progress(elapsed: Duration, end: End, episode: &Episode, load: &Load) {
    let records = load.records();
    let recovered = episode.recovery(&records).map(|recovery| match recovery.first {
        Some(after) => format!("{after:.0?}"),
        None => "never".into(),
    });
    println!(
        "{:4.0} s of {end}: {:20} for {:.1} s; Redis in use again after {}; {} requests",
        elapsed.as_secs_f64(),
        episode.fault.name(),
        (episode.repaired - episode.began).as_secs_f64(),
        recovered.join(", "),
        records.len()
    );
}
