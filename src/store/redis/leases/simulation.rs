//! Simulated nodes that lease one key from one store: random delays, pauses, crashes, lost and late replies, returned units, and clocks
//! that run at different speeds. Every spend, at the time at which it happened, is fed to the limit without leases, which has to admit it.

use std::{collections::BTreeMap, time::Duration};

use super::{
    super::seeded_random::Random,
    key_leases::{Answer, KeyLeases, Returned},
};
use crate::{
    algorithm::{
        Algorithm, AnyAlgorithm, FixedWindow, LeakyBucket, Mark, SlidingCounter, SlidingLog, State, TokenBucket,
    },
    limit::Limit,
    quota::{Cost, Quota},
    time::Micros,
    verdict::Verdict,
};

/// A mistake, to see that the simulation finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// The lease time counts from the reply instead of the call.
    CountsFromReply,
    /// The capacity of the shared bucket is not reduced.
    KeepsCapacity,
    /// The window of the shared log is not widened.
    KeepsWindow,
    /// A lease survives its window or sub-window.
    SurvivesWindow,
}

struct Node {
    leases: Option<KeyLeases>,
    /// By how many millionths its clock is fast or slow.
    drift: i64,
    /// Nothing happens before then.
    paused_until: Micros,
    /// Replies to calls of an earlier life are lost.
    life: u32,
}

enum Event {
    Request {
        node: usize,
        cost: Cost,
    },
    Call {
        node: usize,
        call: Call,
    },
    Reply {
        node: usize,
        reply: Reply,
    },
    /// Under the version of the limit that was charged.
    Return(Returned, AnyAlgorithm),
    /// A request is refunded.
    Refund {
        node: usize,
        spend: usize,
    },
    Wake {
        node: usize,
    },
    /// The state is reset, without the knowledge of the nodes.
    Reset,
    /// All nodes get another version of the limit. The calls that are in flight then are lost.
    Change,
}

/// From then on, what was outstanding comes on top.
#[derive(Clone, Copy)]
struct Disruption {
    at: Micros,
    outstanding: u64,
    /// The limit without leases from then on.
    unleased: AnyAlgorithm,
    resets: bool,
}

/// A request that goes to the store, or a renewal, or both.
#[derive(Clone, Copy)]
struct Call {
    life: u32,
    version: u32,
    sent: Micros,
    cost: Option<Cost>,
    lease: Option<Cost>,
}

struct Reply {
    call: Call,
    limit: Limit,
    verdict: Verdict,
    /// What was charged for the request.
    charged: Option<usize>,
    lease: Option<(Verdict, Option<Mark>)>,
}

/// A request that was admitted, unless it was refunded since.
struct Spend {
    at: Micros,
    cost: Cost,
    mark: Mark,
    life: u32,
    is_refunded: bool,
}

struct Simulation {
    fault: Fault,
    has_accidents: bool,
    random: Random,
    limit: Limit,
    /// The number of changes of the limit.
    version: u32,
    lease: Micros,
    state: State,
    nodes: Vec<Node>,
    events: BTreeMap<(Micros, u64), Event>,
    scheduled: u64,
    now: Micros,
    max_delay: Micros,
    spends: Vec<Spend>,
    local: u64,
    /// The units that were charged in advance and neither spent nor returned; those of crashed nodes included.
    outstanding: u64,
    first: AnyAlgorithm,
    disruption: Option<Disruption>,
}

const START: Micros = 1_700_000_000_000_000;

impl Simulation {
    fn new(seed: u64, fault: Fault) -> Self {
        let mut random = Random(seed);
        let window = [4_000, 10_000, 60_000, 1_000_000][random.below(4) as usize];
        let limit = 1 + random.below(100) as u32;
        let lease = 1_000 + random.below(window / 2);
        let quota = Quota::new(limit, Duration::from_micros(window));
        let capacity = 1 + random.below(2 * u64::from(limit)) as u32;
        let algorithm = match random.below(6) {
            0 => TokenBucket::with_capacity(quota, capacity).to_any(),
            1 => LeakyBucket::with_capacity(quota, capacity).policing().to_any(),
            2 => FixedWindow::new(quota).to_any(),
            3 => FixedWindow::new(quota).anchored().to_any(),
            4 => SlidingLog::new(quota).to_any(),
            _ => SlidingCounter::new(quota)
                .sub_windows([1, 2, 4, 5][random.below(4) as usize])
                .to_any(),
        };
        let nodes = 1 + random.below(8);
        let nodes = (0..nodes).map(|_| Node {
            leases: None,
            drift: random.below(19_000) as i64 - 9_500,
            paused_until: 0,
            life: 0,
        });
        let nodes = nodes.collect();
        Self {
            fault,
            has_accidents: true,
            max_delay: 1 + random.below(2 * lease),
            random,
            limit: Limit::new("key", algorithm)
                .try_lease(Duration::from_micros(lease))
                .expect("a valid lease"),
            version: 0,
            lease,
            state: State::Fresh,
            nodes,
            events: BTreeMap::new(),
            scheduled: 0,
            now: START,
            spends: Vec::new(),
            local: 0,
            outstanding: 0,
            first: algorithm,
            disruption: None,
        }
    }

    fn schedule(&mut self, after: Micros, event: Event) {
        self.scheduled += 1;
        self.events.insert((self.now + after, self.scheduled), event);
    }

    /// Whether an accident happens that happens once in so many chances.
    fn happens(&mut self, chances: u64) -> bool {
        self.has_accidents && self.random.one_in(chances)
    }

    fn delay(&mut self) -> Micros {
        self.random.below(self.max_delay)
    }

    /// The shared rule.
    fn shared(&self) -> AnyAlgorithm {
        let is_log = matches!(self.limit.algorithm(), AnyAlgorithm::SlidingLog(_));
        match self.fault {
            Fault::KeepsCapacity if !is_log => *self.limit.unleased_algorithm(),
            Fault::KeepsWindow if is_log => *self.limit.unleased_algorithm(),
            _ => *self.limit.algorithm(),
        }
    }

    /// What a node's clock shows.
    fn local_time(&self, node: usize, at: Micros) -> Micros {
        let elapsed = (at - START) as i64;
        (elapsed + elapsed * self.nodes[node].drift / 1_000_000) as Micros
    }

    /// Runs until all requests are answered, and returns the number of requests that were decided locally.
    fn run(mut self) -> Result<u64, String> {
        let (window, requests) = (
            quota_of(self.limit.unleased_algorithm()).window_micros(),
            20 + self.random.below(200),
        );
        // Demand around and above the limit.
        let span = window * (1 + self.random.below(4));
        for _ in 0..requests {
            let (at, node) = (
                self.random.below(span),
                self.random.below(self.nodes.len() as u64) as usize,
            );
            let max_cost = if self.random.one_in(4) { 3 } else { 1 };
            let cost = 1 + self.random.below(max_cost) as Cost;
            self.schedule(at, Event::Request { node, cost });
        }
        let disruption = match self.random.below(8) {
            0 => Some(Event::Reset),
            1 => Some(Event::Change),
            _ => None,
        };
        if let Some(disruption) = disruption {
            let at = self.random.below(span);
            self.schedule(at, disruption);
        }
        while let Some(((at, _), event)) = self.events.pop_first() {
            self.now = at;
            self.handle(event);
        }
        self.check()
    }

    fn handle(&mut self, event: Event) {
        let paused = match &event {
            Event::Request { node, .. }
            | Event::Reply { node, .. }
            | Event::Refund { node, .. }
            | Event::Wake { node } => self.nodes[*node].paused_until,
            Event::Call { .. } | Event::Return(..) | Event::Reset | Event::Change => 0,
        };
        if self.now < paused {
            return self.schedule(paused - self.now, event);
        }
        match event {
            Event::Request { node, cost } => self.request(node, cost),
            Event::Call { node, call } => self.call(node, call),
            Event::Reply { node, reply } => self.reply(node, reply),
            Event::Return(Returned { units, mark }, algorithm) => {
                algorithm.refund(&mut self.state, self.now, mark, units);
                self.outstanding -= u64::from(units);
            }
            Event::Reset => {
                self.state = State::Fresh;
                self.disrupt(true);
            }
            Event::Change => self.change(),
            Event::Refund { node, spend } => self.refund(node, spend),
            Event::Wake { node } => self.return_unused(node),
        }
    }

    /// Another limit and capacity, and, where that is the same state, another lease time.
    fn change(&mut self) {
        let unleased = *self.limit.unleased_algorithm();
        let quota = Quota::new(1 + self.random.below(100) as u32, quota_of(&unleased).window());
        let changed = match unleased {
            AnyAlgorithm::TokenBucket(_) | AnyAlgorithm::LeakyBucket(_) => {
                let capacity = 1 + self.random.below(2 * u64::from(quota.limit())) as u32;
                TokenBucket::with_capacity(quota, capacity).to_any()
            }
            _ => unleased.try_quota(quota).expect("a valid quota"),
        };
        let lease = match changed {
            AnyAlgorithm::FixedWindow(_) | AnyAlgorithm::SlidingCounter(_) => 1_000 + self.random.below(self.lease),
            _ => self.lease,
        };
        // A bucket that is too small to be leased would be another state.
        if changed.leased(lease).is_some() && self.limit.lease_micros().is_some() {
            let changed = self.limit.with_algorithm(changed);
            self.limit = changed.try_lease(Duration::from_micros(lease)).expect("a valid lease");
            self.version += 1;
            self.disrupt(false);
        }
    }

    fn disrupt(&mut self, resets: bool) {
        self.disruption = Some(Disruption {
            at: self.now,
            outstanding: self.outstanding,
            unleased: *self.limit.unleased_algorithm(),
            resets,
        });
    }

    fn request(&mut self, node: usize, cost: Cost) {
        if self.happens(30) {
            self.nodes[node].paused_until = self.now + self.random.below(3 * self.lease);
        }
        if self.happens(60) {
            let crashed = &mut self.nodes[node];
            (crashed.leases, crashed.life) = (None, crashed.life + 1);
        }
        self.return_unused(node);
        // The leases of another version of the limit are returned.
        let other = self.nodes[node].leases.take_if(|leases| *leases.limit() != self.limit);
        if let Some(leases) = other {
            let algorithm = *leases.limit().algorithm();
            leases
                .into_returned()
                .for_each(|returned| self.send_return(Some(returned), algorithm));
        }
        let now = self.local_time(node, self.now);
        let taken = self.nodes[node]
            .leases
            .as_mut()
            .and_then(|leases| leases.take(cost, now));
        if let Some(spent) = taken {
            let is_denied = self.happens(10);
            let leases = self.nodes[node].leases.as_mut().expect("it had units");
            if is_denied {
                // Another tier denies the request.
                let returned = leases.put_back(spent.mark, cost, now).err();
                return self.send_return(returned, self.shared());
            }
            let lease = leases.ask(now);
            self.local += 1;
            self.outstanding -= u64::from(cost);
            self.spend(node, self.now, cost, spent.mark);
            if lease.is_some() {
                self.send(node, None, lease);
            }
            return;
        }
        let lease = self.nodes[node].leases.as_mut().and_then(|leases| leases.ask(now));
        self.send(node, Some(cost), lease);
    }

    fn send(&mut self, node: usize, cost: Option<Cost>, lease: Option<Cost>) {
        let call = Call {
            life: self.nodes[node].life,
            version: self.version,
            sent: self.now,
            cost,
            lease,
        };
        let delay = self.delay();
        match self.happens(40) {
            // It never arrives.
            true => {
                if call.lease.is_some() {
                    let now = self.local_time(node, self.now);
                    self.nodes[node].leases.iter_mut().for_each(|leases| leases.lost(now));
                }
            }
            false => self.schedule(delay, Event::Call { node, call }),
        }
    }

    /// Records an admitted request, which may be refunded later.
    fn spend(&mut self, node: usize, at: Micros, cost: Cost, mark: Mark) -> usize {
        let (life, is_refunded) = (self.nodes[node].life, false);
        self.spends.push(Spend {
            at,
            cost,
            mark,
            life,
            is_refunded,
        });
        let spend = self.spends.len() - 1;
        if self.happens(12) {
            let after = self.random.below(2 * self.lease);
            self.schedule(after, Event::Refund { node, spend });
        }
        spend
    }

    /// The store executes a call: the lease only if the request was admitted.
    fn call(&mut self, node: usize, call: Call) {
        if call.version != self.version {
            return;
        }
        let algorithm = self.shared();
        let (mut verdict, mut charged, mut admitted) = (algorithm.peek(&self.state, self.now, 0), None, true);
        if let Some(cost) = call.cost {
            let mark;
            (verdict, mark) = algorithm.acquire(&mut self.state, self.now, cost);
            admitted = verdict.outcome.admits();
            charged = mark.map(|mark| self.spend(node, mark.at, cost, mark));
        }
        let lease = call.lease.filter(|_| admitted);
        let lease = lease.map(|units| algorithm.acquire(&mut self.state, self.now, units));
        if let (Some(units), Some((_, Some(_)))) = (call.lease, &lease) {
            self.outstanding += u64::from(units);
        }
        let delay = self.delay();
        let reply = Reply {
            call,
            limit: self.limit.clone(),
            verdict,
            charged,
            lease,
        };
        if !self.happens(40) {
            return self.schedule(delay, Event::Reply { node, reply });
        }
        // The reply is lost.
        if call.lease.is_some() && call.life == self.nodes[node].life {
            let now = self.local_time(node, self.now);
            self.nodes[node].leases.iter_mut().for_each(|leases| leases.lost(now));
        }
    }

    fn reply(&mut self, node: usize, reply: Reply) {
        let Reply {
            call,
            verdict,
            limit,
            charged,
            lease,
        } = reply;
        if call.life != self.nodes[node].life {
            return;
        }
        let now = self.local_time(node, self.now);
        let sent = match self.fault {
            Fault::CountsFromReply => now,
            _ => self.local_time(node, call.sent),
        };
        let answer = Answer {
            verdict,
            now: self.now,
            received: now,
        };
        let Some(time) = limit.lease_micros() else { return };
        let leases = &mut self.nodes[node].leases;
        if limit == self.limit && leases.is_none() {
            *leases = Some(KeyLeases::new(&limit, time, answer));
        }
        let Some(leases) = leases.as_mut().filter(|leases| *leases.limit() == limit) else {
            // The limit has changed since.
            if let (Some(units), Some((_, Some(mark)))) = (call.lease, lease) {
                let mark = limit.algorithm().return_mark(mark, units);
                self.send_return(Some(Returned { units, mark }), *limit.algorithm());
            }
            return;
        };
        leases.decided(call.cost.filter(|_| charged.is_some()).unwrap_or(0), answer);
        let returned = match (call.lease, lease) {
            (Some(units), Some((verdict, Some(mark)))) => {
                let seen = match (self.fault, limit.algorithm().window_end(mark)) {
                    (Fault::SurvivesWindow, Some(_)) => Mark::new(mark.at, mark.position + 1_000_000, mark.unit()),
                    _ => mark,
                };
                leases.granted(units, seen, sent, Answer { verdict, ..answer })
            }
            (Some(_), _) => {
                leases.refused(now);
                None
            }
            (None, _) => None,
        };
        self.send_return(returned, *limit.algorithm());
        self.return_unused(node);
    }

    /// Sends back what has ended, and comes back for the rest.
    fn return_unused(&mut self, node: usize) {
        let now = self.local_time(node, self.now);
        let Some(leases) = &mut self.nodes[node].leases else {
            return;
        };
        let (returned, next) = (leases.returned(now), leases.next_return());
        let algorithm = *leases.limit().algorithm();
        returned
            .into_iter()
            .for_each(|returned| self.send_return(Some(returned), algorithm));
        if let Some(next) = next {
            let after = next.saturating_sub(now) + 1;
            self.schedule(after, Event::Wake { node });
        }
    }

    fn send_return(&mut self, returned: Option<Returned>, algorithm: AnyAlgorithm) {
        if let Some(returned) = returned {
            let delay = self.delay();
            self.schedule(delay, Event::Return(returned, algorithm));
        }
    }

    fn refund(&mut self, node: usize, spend: usize) {
        let Spend {
            cost,
            mark,
            life,
            is_refunded,
            ..
        } = self.spends[spend];
        let is_of_before = self.disruption.is_some_and(|disruption| mark.at < disruption.at);
        if life != self.nodes[node].life || is_refunded || is_of_before {
            return;
        }
        let now = self.local_time(node, self.now);
        if let Some(leases) = &mut self.nodes[node].leases {
            self.spends[spend].is_refunded = true;
            self.outstanding += u64::from(cost);
            let (returned, algorithm) = (leases.put_back(mark, cost, now).err(), *leases.limit().algorithm());
            self.send_return(returned, algorithm);
        }
    }

    /// Feeds the spends to the limit without leases. An anchored window starts with its first charge, which only the shared state knows:
    /// there are at most two of them in any window.
    fn check(mut self) -> Result<u64, String> {
        // What happened in the microsecond of a disruption may have been before or after it.
        let disrupted_at = self.disruption.map(|disruption| disruption.at);
        self.spends
            .retain(|spend| !spend.is_refunded && Some(spend.at) != disrupted_at);
        self.spends.sort_by_key(|spend| spend.at);
        let (mut algorithm, mut state, mut disruption) = (self.first, State::Fresh, self.disruption);
        let (mut quota, mut fresh_since, spends) = (quota_of(&algorithm), 0, &self.spends);
        for (index, Spend { at, cost, .. }) in spends.iter().enumerate() {
            if let Some(disruption) = disruption.take_if(|disruption| disruption.at <= *at) {
                algorithm = raised(disruption.unleased, disruption.outstanding as u32);
                (quota, fresh_since) = (quota_of(&algorithm), disruption.at);
                if disruption.resets {
                    state = State::Fresh;
                }
            }
            let is_admitted = match algorithm {
                AnyAlgorithm::FixedWindow(window) if window.anchored => {
                    let before = spends[..=index].iter().rev();
                    let is_recent = |spend: &&Spend| spend.at + quota.window_micros() > *at && spend.at > fresh_since;
                    let since = before.take_while(is_recent);
                    since.map(|spend| u64::from(spend.cost)).sum::<u64>() <= 2 * u64::from(quota.limit())
                }
                _ => algorithm.acquire(&mut state, *at, *cost).1.is_some(),
            };
            if !is_admitted {
                return Err(format!(
                    "{algorithm:?}: {cost} at {}, leased for {}",
                    at - START,
                    self.lease
                ));
            }
        }
        Ok(self.local)
    }
}

/// The limit with more units. A bucket refills as before.
fn raised(algorithm: AnyAlgorithm, units: u32) -> AnyAlgorithm {
    let quota = quota_of(&algorithm);
    match algorithm {
        AnyAlgorithm::TokenBucket(_) | AnyAlgorithm::LeakyBucket(_) => {
            TokenBucket::with_capacity(quota, algorithm.capacity() + units).to_any()
        }
        _ => algorithm
            .try_quota(Quota::new(quota.limit() + units, quota.window()))
            .expect("a valid quota"),
    }
}

/// The number of requests that were decided locally in these runs.
fn local(seeds: std::ops::Range<u64>) -> u64 {
    let run = |seed| {
        Simulation::new(seed, Fault::None)
            .run()
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"))
    };
    seeds.map(run).sum()
}

#[test]
fn leases_never_admit_too_much() {
    let runs: u64 = std::env::var("LEASE_RUNS")
        .ok()
        .and_then(|runs| runs.parse().ok())
        .unwrap_or(10_000);
    assert!(local(0..runs) > runs);
}

/// Four nodes, whose requests alternate from window to window between a little more than the limit and three times as many, with the
/// longest lease that is recommended for a log.
#[test]
fn hardly_anything_remains_unused() {
    const WINDOW: Micros = 1_000_000;
    const REQUESTS: u32 = 1000;
    const WINDOWS: u64 = 20;
    let quota = Quota::new(REQUESTS, Duration::from_micros(WINDOW));
    for algorithm in [
        TokenBucket::with_capacity(quota, REQUESTS / 10).to_any(),
        FixedWindow::new(quota).to_any(),
        SlidingLog::new(quota).to_any(),
        SlidingCounter::new(quota).sub_windows(10).to_any(),
    ] {
        let lease = WINDOW / 50;
        let mut simulation = Simulation {
            has_accidents: false,
            max_delay: lease / 20,
            limit: Limit::new("key", algorithm).lease(Duration::from_micros(lease)),
            lease,
            first: algorithm,
            ..Simulation::new(0, Fault::None)
        };
        let node = || Node {
            leases: None,
            drift: 0,
            paused_until: 0,
            life: 0,
        };
        simulation.nodes = (0..4).map(|_| node()).collect();
        for window in 0..WINDOWS {
            let requests = u64::from(REQUESTS) * if window.is_multiple_of(2) { 105 } else { 300 } / 100;
            for request in 0..requests {
                let (at, node, cost) = (WINDOW * request / requests, request as usize % 4, 1);
                simulation.schedule(window * WINDOW + at, Event::Request { node, cost });
            }
        }
        while let Some(((at, _), event)) = simulation.events.pop_first() {
            simulation.now = at;
            simulation.handle(event);
        }
        let in_window = |window| {
            let is_within = |spend: &&Spend| (spend.at - START) / WINDOW == window;
            simulation.spends.iter().filter(is_within).count()
        };
        let spends: Vec<_> = (0..WINDOWS).map(in_window).collect();
        let is_used = spends.iter().all(|spends| *spends >= REQUESTS as usize * 95 / 100);
        assert!(is_used, "{algorithm:?}: {spends:?}");
        assert!(simulation.local > 500, "{algorithm:?}: {}", simulation.local);
    }
}

#[test]
fn mistakes_are_found() {
    for fault in [
        Fault::CountsFromReply,
        Fault::KeepsCapacity,
        Fault::KeepsWindow,
        Fault::SurvivesWindow,
    ] {
        let is_found = (0..20_000).any(|seed| Simulation::new(seed, fault).run().is_err());
        assert!(is_found, "{fault:?}");
    }
}

/// The quota of an algorithm that can be leased.
fn quota_of(algorithm: &AnyAlgorithm) -> Quota {
    algorithm.quota().expect("only limits with a window are leased")
}
