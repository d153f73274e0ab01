//! A run, from the first process to the last figure.

use std::{
    thread,
    time::{Duration, Instant},
};

use tokio::runtime::{Builder, Runtime};

use crate::{
    args::{End, SoakArgs},
    faults::Deck,
    fleet::Fleet,
    heartbeat::Heartbeat,
    limits::{DEADLINE, LIMIT, PROCESSES, USERS, WINDOW},
    load::{Load, PACE},
    promises::{Left, Run},
    report,
    rig::Rig,
    support::random::Random,
    timeline::{Episode, Timeline},
};

const WARM_UP: Duration = Duration::from_secs(1);
/// How often it is tried to have all connections open.
const WARM_UPS: u32 = 30;
/// Two of each process, and the one that looks at Redis.
const CONNECTIONS: usize = 2 * PROCESSES + 1;
const FAULT: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(4));
const CALM: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(4));

/// How long a process may take to see that the load's connections are closed.
const CLOSED: Duration = Duration::from_secs(5);

/// Breaks things for as long as asked, and tells whether every promise was kept.
pub(crate) fn soak(args: &SoakArgs) -> Result<(), &'static str> {
    let (end, seed) = (args.end(), &args.seed);
    let rate = 1000 / PACE.as_millis();
    println!(
        "{PROCESSES} processes on one Redis, each asked {rate} times a second for {USERS} users; {LIMIT} requests in {WINDOW:?} per \
         user and layer; deadline {DEADLINE:?}; {end}; --seed {seed}\n"
    );
    let mut stage = Stage::set();
    let (mut files, mut connections) = stage.warm_up(*seed);
    // A machine that stands still may have cost a process a connection, which it makes again when it is asked again.
    for _ in 0..WARM_UPS {
        if connections == CONNECTIONS {
            break;
        }
        (files, connections) = stage.warm_up(*seed);
    }

    let load = stage.load(*seed);
    stage.break_things(args, &load);
    let calm = Instant::now();
    let keys = stage.rig.keys();
    let records = load.stop(stage.runtime.handle());
    stage.note_stalls(calm);
    let files_now = stage.files(|now| {
        let are_closed = now.iter().zip(&files).all(|(now, before)| now <= before);
        are_closed && stage.rig.connections() <= connections
    });
    let left = Left {
        keys,
        files: (files, files_now),
        connections: (connections, stage.rig.connections()),
    };
    let all_kept = report::tell(&Run {
        records,
        timeline: stage.timeline,
        forgotten: stage.rig.forgotten,
        unwell: stage.unwell,
        left,
    });
    all_kept.then_some(()).ok_or("a promise was broken")
}

/// Everybody who takes part, and what has been noted.
struct Stage {
    runtime: Runtime,
    fleet: Fleet,
    rig: Rig,
    of_machine: Heartbeat,
    of_redis: Heartbeat,
    timeline: Timeline,
    /// When a process did not know its Redis to be up though all was calm, and what it said.
    unwell: Vec<(Instant, String)>,
}

impl Stage {
    fn set() -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let rig = Rig::start();
        Self {
            runtime: runtime.expect("a runtime"),
            fleet: Fleet::start(&rig.url()),
            of_machine: Heartbeat::start(|| {}),
            of_redis: Heartbeat::start(rig.pulse()),
            rig,
            timeline: Timeline::default(),
            unwell: Vec::new(),
        }
    }

    fn load(&self, seed: u64) -> Load {
        Load::start(self.runtime.handle(), self.fleet.urls(), seed)
    }

    /// What the processes have open, as soon as it is as it should be, or at last.
    fn files(&self, as_it_should_be: impl Fn(&Vec<usize>) -> bool) -> Vec<usize> {
        let end = Instant::now() + CLOSED;
        loop {
            let files = self.fleet.open_files();
            if as_it_should_be(&files) || Instant::now() > end {
                return files;
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Asks for a while, and tells how many files and connections are open then.
    fn warm_up(&self, seed: u64) -> (Vec<usize>, usize) {
        let load = self.load(seed);
        thread::sleep(WARM_UP);
        load.stop(self.runtime.handle());
        let files = self.files(|files| {
            // Until nothing has changed for a while.
            thread::sleep(Duration::from_millis(300));
            *files == self.fleet.open_files()
        });
        (files, self.rig.connections())
    }

    /// A calm, then fault after fault with a calm after each.
    fn break_things(&mut self, args: &SoakArgs, load: &Load) {
        let (mut random, mut deck) = (Random::seeded(args.seed), Deck::default());
        let start = Instant::now();
        thread::sleep(CALM.0);
        while self.is_to_go_on(args.end(), start) {
            let fault = deck.draw(&mut random);
            let lasting = random.between(FAULT.0, FAULT.1);
            let began = Instant::now();
            self.rig.inflict(fault, lasting, random.fork());
            let mended = Instant::now();
            thread::sleep(random.between(CALM.0, CALM.1));
            for health in self.fleet.health(self.runtime.handle()) {
                if !health.ends_with(" is up") {
                    let said = format!("at the end of the calm after: {}: {health}", fault.name());
                    self.unwell.push((Instant::now(), said));
                }
            }
            self.note_stalls(mended);
            let episode = Episode {
                fault,
                began,
                mended,
                over: Instant::now(),
            };
            progress(start.elapsed(), args.end(), &episode, load);
            self.timeline.episodes.push(episode);
        }
    }

    fn is_to_go_on(&self, end: End, start: Instant) -> bool {
        match end {
            End::After(length) => start.elapsed() < length,
            End::Faults(number) => self.timeline.episodes.len() < number,
        }
    }

    /// That Redis does not answer while it is broken says nothing of the machine.
    fn note_stalls(&mut self, calm: Instant) {
        let of_redis = self.of_redis.take().into_iter().filter(|stall| stall.from > calm);
        let of_machine = self.of_machine.take().into_iter();
        let of_fleet = self.fleet.stalls(self.runtime.handle());
        self.timeline.stalls.extend(of_machine.chain(of_fleet).chain(of_redis));
    }
}

fn progress(gone: Duration, end: End, episode: &Episode, load: &Load) {
    let records = load.records();
    let back = episode.recovery(&records).map(|recovery| match recovery.first {
        Some(after) => format!("{after:.0?}"),
        None => "never".into(),
    });
    println!(
        "{:4.0} s of {end}: {:20} for {:.1} s; Redis decided again after {}; {} requests",
        gone.as_secs_f64(),
        episode.fault.name(),
        (episode.mended - episode.began).as_secs_f64(),
        back.join(", "),
        records.len()
    );
}
