//! Simulated nodes that hold slots of one key: delayed, lost and reordered messages, deadlines, requests that give up, releases that are not
//! sent, pauses, crashes, and a store that loses its state. After every event, what the nodes hold is compared with the limit.

use std::collections::{BTreeMap, HashMap};

use super::{
    super::seeded_random::Random,
    key_slots::{Answered, KeySlots, SlotAnswer},
};
use crate::{
    algorithm::{Concurrency, ConcurrencyState, Holder},
    quota::Cost,
    time::{Micros, SECOND},
    verdict::RawOutcome,
};

/// A mistake, to see that the simulation finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// A correction is a count without an epoch.
    NoEpoch,
    /// A node takes answers of an earlier epoch for admissions.
    AcceptsOldAnswers,
    /// An answer that is lost is not corrected.
    NoCorrection,
    /// The store does not extend the expiry of an entry that is renewed.
    NoExtension,
}

const START: Micros = 1_700_000_000_000_000;
const TIME_TO_LIVE: Micros = 3 * SECOND;
const DEADLINE: Micros = SECOND / 10;

/// Requests arrive until then.
const END: Micros = START + 20 * SECOND;

struct Node {
    id: u64,
    epoch: u64,
    slots: KeySlots,
    /// Calls without an answer.
    pending: HashMap<u64, Pending>,
    is_renewing: bool,
    paused_until: Micros,
    /// When the store last executed a call of it, which has to extend its expiry.
    executed_at: Micros,
    /// Whether it held something for longer than the time-to-live after that, since when it has not held nothing.
    is_late: bool,
}

/// A call without an answer.
#[derive(Clone, Copy)]
struct Pending {
    action: Action,
    sender: Holder,
    sent: Micros,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Action {
    Acquire(Cost),
    Release(Cost),
    Renew,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Request(usize),
    Release {
        node: usize,
        id: u64,
        cost: Cost,
    },
    /// A node renews what it holds.
    Tick(usize),
    /// A call arrives at the store.
    Call {
        node: usize,
        id: u64,
        number: u64,
        action: Action,
        sender: Holder,
    },
    Reply {
        node: usize,
        id: u64,
        number: u64,
        answer: SlotAnswer,
    },
    Timeout {
        node: usize,
        id: u64,
        number: u64,
    },
    Crash(usize),
    LoseState,
}

impl Event {
    /// The node that a pause delays it for, and the id that it had.
    fn at_node(&self) -> Option<usize> {
        match *self {
            Self::Request(node) | Self::Release { node, .. } | Self::Tick(node) => Some(node),
            Self::Reply { node, .. } | Self::Timeout { node, .. } => Some(node),
            Self::Call { .. } | Self::Crash(_) | Self::LoseState => None,
        }
    }
}

struct Simulation {
    fault: Fault,
    random: Random,
    limit: Concurrency,
    state: ConcurrencyState,
    nodes: Vec<Node>,
    events: BTreeMap<(Micros, u64), Event>,
    scheduled: u64,
    calls: u64,
    now: Micros,
    max_delay: Micros,
    /// What may be held: more than the limit after the state was lost.
    bound: u64,
    /// When the state was last lost.
    lost_at: Micros,
    admitted: u64,
}

impl Simulation {
    fn new(seed: u64, fault: Fault) -> Self {
        let mut random = Random(seed);
        let limit = 1 + random.below(6) as u32;
        let nodes = 1 + random.below(5);
        let nodes = (1..=nodes).map(|id| Node {
            id,
            epoch: 1,
            slots: KeySlots::new(id, 1),
            pending: HashMap::new(),
            is_renewing: false,
            paused_until: 0,
            executed_at: 0,
            is_late: false,
        });
        let mut simulation = Self {
            fault,
            limit: Concurrency {
                time_to_live: TIME_TO_LIVE,
                ..Concurrency::new(limit)
            },
            state: ConcurrencyState::default(),
            nodes: nodes.collect(),
            events: BTreeMap::new(),
            scheduled: 0,
            calls: 0,
            now: START,
            max_delay: [DEADLINE / 10, DEADLINE, 2 * DEADLINE][random.below(3) as usize],
            bound: limit.into(),
            lost_at: 0,
            admitted: 0,
            random,
        };
        for _ in 0..1 + simulation.random.below(100) {
            let node = simulation.node();
            let at = simulation.random.below(END - START);
            simulation.schedule(at, Event::Request(node));
        }
        if simulation.random.one_in(3) {
            let (node, at) = (simulation.node(), simulation.random.below(END - START));
            simulation.schedule(at, Event::Crash(node));
        }
        if simulation.random.one_in(4) {
            let at = simulation.random.below(END - START);
            simulation.schedule(at, Event::LoseState);
        }
        simulation
    }

    fn node(&mut self) -> usize {
        self.random.below(self.nodes.len() as u64) as usize
    }

    fn schedule(&mut self, after: Micros, event: Event) {
        self.scheduled += 1;
        self.events.insert((self.now + after, self.scheduled), event);
    }

    /// The time that a message takes; `None` if it is lost. Some are very late.
    fn delay(&mut self) -> Option<Micros> {
        match self.random.below(40) {
            0 => None,
            1 => Some(self.random.below(4 * DEADLINE)),
            2 => Some(self.random.below(2 * TIME_TO_LIVE)),
            _ => Some(self.random.below(self.max_delay)),
        }
    }

    fn run(mut self) -> Result<u64, String> {
        while let Some(((at, _), event)) = self.events.pop_first() {
            self.now = self.now.max(at);
            let paused_until = event.at_node().map_or(0, |node| self.nodes[node].paused_until);
            if paused_until > self.now {
                self.schedule(paused_until - self.now, event);
                continue;
            }
            self.mark_late();
            self.handle(event);
            self.mark_late();
            self.check()
                .map_err(|broken| format!("{broken} after {event:?} at {}", self.now - START))?;
        }
        self.check_end()?;
        Ok(self.admitted)
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Request(node) => {
                if self.random.one_in(30) {
                    let longest = [DEADLINE, TIME_TO_LIVE / 3, 2 * TIME_TO_LIVE][self.random.below(3) as usize];
                    self.nodes[node].paused_until = self.now + self.random.below(longest);
                }
                let cost = 1 + self.random.below(self.limit.limit.min(2).into()) as Cost;
                let sender = self.slots(node).send();
                self.send(node, Action::Acquire(cost), sender);
            }
            // A crashed node has released nothing.
            Event::Release { node, id, .. } if self.nodes[node].id != id => {}
            Event::Release { node, cost, .. } => {
                // The circuit breaker is open.
                if self.random.one_in(20) {
                    self.slots(node).release(cost);
                    return self.begin_epoch(node);
                }
                let sender = self.slots(node).send_release(cost);
                self.send(node, Action::Release(cost), sender);
            }
            Event::Tick(node) => self.renew(node),
            Event::Call {
                node,
                id,
                number,
                action,
                sender,
            } => {
                let answer = self.execute(action, sender);
                if let SlotAnswer::Executed { .. } = answer {
                    let caller = self.nodes.iter_mut().find(|node| node.id == sender.id);
                    caller.into_iter().for_each(|caller| caller.executed_at = self.now);
                }
                if let Some(delay) = self.delay() {
                    self.schedule(
                        delay,
                        Event::Reply {
                            node,
                            id,
                            number,
                            answer,
                        },
                    );
                }
            }
            Event::Reply {
                node,
                id,
                number,
                answer,
            } => self.answered(node, id, number, answer),
            Event::Timeout { node, id, number } => self.lost(node, id, number),
            Event::Crash(node) => {
                let id = 1000 + self.nodes[node].id;
                let paused_until = self.nodes[node].paused_until;
                self.nodes[node] = Node {
                    id,
                    epoch: 1,
                    slots: KeySlots::new(id, 1),
                    pending: HashMap::new(),
                    is_renewing: false,
                    paused_until,
                    executed_at: 0,
                    is_late: false,
                };
            }
            Event::LoseState => {
                self.state = ConcurrencyState::default();
                self.bound = 2 * u64::from(self.limit.limit);
                self.lost_at = self.now;
            }
        }
    }

    /// What a node holds. If that is nothing, it begins as if it had never held anything.
    fn slots(&mut self, node: usize) -> &mut KeySlots {
        let Node { id, epoch, slots, .. } = &mut self.nodes[node];
        if slots.is_idle() {
            *slots = KeySlots::new(*id, *epoch);
        }
        slots
    }

    fn send(&mut self, node: usize, action: Action, sender: Holder) {
        self.calls += 1;
        let (number, id) = (self.calls, self.nodes[node].id);
        let sent = self.now;
        self.nodes[node]
            .pending
            .insert(number, Pending { action, sender, sent });
        self.schedule(DEADLINE, Event::Timeout { node, id, number });
        if let Some(delay) = self.delay() {
            self.schedule(
                delay,
                Event::Call {
                    node,
                    id,
                    number,
                    action,
                    sender,
                },
            );
        }
    }

    /// The store executes a call.
    fn execute(&mut self, action: Action, sender: Holder) -> SlotAnswer {
        let (limit, state, now) = (self.limit, &mut self.state, self.now);
        let made_at = match action {
            Action::Acquire(cost) => {
                let (verdict, mark) = limit.acquire_as(sender, state, now, cost);
                if mark.is_none() && verdict.outcome != (RawOutcome::Limited { retry_after: 0 }) {
                    return SlotAnswer::Denied;
                }
                mark.map(|mark| mark.position)
            }
            Action::Release(cost) => limit.release_as(sender, state, now, cost),
            Action::Renew if self.fault == Fault::NoExtension && state.counts(now).any(|(id, ..)| id == sender.id) => {
                limit.renew_as(sender, &mut state.clone(), now)
            }
            Action::Renew => {
                let made_at = limit.renew_as(sender, state, now);
                if self.fault == Fault::NoEpoch {
                    self.state.set_count(sender.id, sender.base);
                }
                made_at
            }
        };
        made_at.map_or(SlotAnswer::Superseded, |made_at| SlotAnswer::Executed { made_at })
    }

    fn answered(&mut self, node: usize, id: u64, number: u64, answer: SlotAnswer) {
        // What it has acquired may have expired.
        let pending = self.nodes[node].pending.get(&number);
        if pending.is_some_and(|pending| self.now - pending.sent >= TIME_TO_LIVE) {
            return self.lost(node, id, number);
        }
        let Some(Pending { action, sender, .. }) = self.take_pending(node, id, number) else {
            return;
        };
        let acquired = match (action, answer) {
            (Action::Acquire(cost), SlotAnswer::Executed { .. }) => cost,
            _ => 0,
        };
        let slots = &mut self.nodes[node].slots;
        let mut answered = answer.apply(slots, sender, acquired);
        if answered == Answered::Superseded && self.fault == Fault::AcceptsOldAnswers {
            let sender = slots.send();
            answered = slots.denied(sender);
            slots.acquire(acquired);
        }
        if answered == Answered::StateLost {
            self.begin_epoch(node);
        }
        if action == Action::Renew {
            self.nodes[node].is_renewing = false;
            if !self.nodes[node].slots.is_confirmed() {
                self.renew(node);
            }
        }
        if acquired > 0 && answered != Answered::Superseded {
            self.admitted += 1;
            // The request has given up.
            if self.random.one_in(20) {
                self.slots(node).release(acquired);
                return self.begin_epoch(node);
            }
            let held_for = self
                .random
                .below([DEADLINE, SECOND, 3 * TIME_TO_LIVE][(number % 3) as usize]);
            let cost = acquired;
            self.schedule(held_for, Event::Release { node, id, cost });
            self.schedule(TIME_TO_LIVE / 3, Event::Tick(node));
        }
    }

    fn lost(&mut self, node: usize, id: u64, number: u64) {
        let Some(Pending { action, sender, .. }) = self.take_pending(node, id, number) else {
            return;
        };
        let slots = &mut self.nodes[node].slots;
        if action != Action::Renew {
            if slots.lost(sender) && self.fault != Fault::NoCorrection {
                self.begin_epoch(node);
            }
            return;
        }
        let begins_epoch = slots.renewal_lost(sender) && self.fault != Fault::NoEpoch;
        let Node {
            epoch,
            slots,
            is_renewing,
            ..
        } = &mut self.nodes[node];
        *is_renewing = false;
        if begins_epoch {
            *epoch += 1;
            slots.begin_epoch(*epoch);
        }
        self.schedule(DEADLINE, Event::Tick(node));
    }

    /// A call of this life of the node without an answer.
    fn take_pending(&mut self, node: usize, id: u64, number: u64) -> Option<Pending> {
        let node = &mut self.nodes[node];
        if node.id == id {
            node.pending.remove(&number)
        } else {
            None
        }
    }

    fn begin_epoch(&mut self, node: usize) {
        let fault = self.fault;
        let Node { epoch, slots, .. } = &mut self.nodes[node];
        if fault != Fault::NoEpoch {
            *epoch += 1;
        }
        slots.begin_epoch(*epoch);
        self.renew(node);
    }

    /// Renews, while anything is held or the store has to be told something.
    fn renew(&mut self, node: usize) {
        let slots = &self.nodes[node].slots;
        if slots.is_idle() || self.nodes[node].is_renewing {
            return;
        }
        if slots.count() > 0 {
            self.schedule(TIME_TO_LIVE / 3, Event::Tick(node));
        }
        self.nodes[node].is_renewing = true;
        let sender = self.nodes[node].slots.send();
        self.send(node, Action::Renew, sender);
    }

    /// What the state counts of each holder that has not expired.
    fn counts(&self) -> impl Iterator<Item = (u64, Micros, u64)> {
        self.state.counts(self.now)
    }

    fn counted(&self) -> u64 {
        self.counts().map(|(_, _, count)| count).sum()
    }

    /// Finds the nodes that have not renewed in time. The state is not consulted, since it may be wrong.
    fn mark_late(&mut self) {
        for node in &mut self.nodes {
            let is_expired = self.now >= node.executed_at + TIME_TO_LIVE;
            node.is_late = node.slots.count() > 0 && (node.is_late || is_expired);
        }
    }

    /// Holders that renew in time never hold more than the limit together.
    fn check(&mut self) -> Result<(), String> {
        let limit = u64::from(self.limit.limit);
        let mut held = 0;
        let mut are_renewed = true;
        for node in &self.nodes {
            let count = node.slots.count();
            let made_at = node.slots.sender().made_at;
            // What was acquired before the loss may be held later.
            are_renewed &= node.pending.values().all(|pending| pending.sent >= self.lost_at);
            are_renewed &= node.is_late || count == 0 || made_at.is_some_and(|made_at| made_at >= self.lost_at);
            held += if node.is_late { 0 } else { count };
        }
        if held > self.bound {
            let (bound, state) = (self.bound, &self.state);
            return Err(format!("{held} are held, and {bound} may be: {state}"));
        }
        self.check_counts()?;
        if are_renewed {
            // The answers to what was acquired before may still be on their way.
            self.bound = self.bound.min(held.max(self.counted())).max(limit);
        }
        Ok(())
    }

    /// If no call of a node is without an answer, the store counts what it holds.
    fn check_counts(&self) -> Result<(), String> {
        for (id, made_at, counted) in self.counts() {
            let knows =
                |node: &&Node| node.id == id && node.pending.is_empty() && node.slots.sender().made_at == Some(made_at);
            if let Some(node) = self.nodes.iter().find(knows)
                && node.slots.is_confirmed()
                && node.slots.count() != counted
            {
                let held = node.slots.count();
                return Err(format!("{counted} are counted of node {id}, which holds {held}"));
            }
        }
        Ok(())
    }

    /// Nothing is held at the end, and after a time-to-live nothing is counted.
    fn check_end(&mut self) -> Result<(), String> {
        let held: u64 = self.nodes.iter().map(|node| node.slots.count()).sum();
        if held > 0 {
            return Err(format!("{held} are held at the end"));
        }
        self.now += TIME_TO_LIVE;
        match self.counted() {
            0 => Ok(()),
            left => Err(format!("{left} are counted a time-to-live after the end")),
        }
    }
}

fn runs() -> u64 {
    std::env::var("HOLDER_RUNS").map_or(10_000, |runs| runs.parse().expect("HOLDER_RUNS is a number"))
}

#[test]
fn nodes_never_hold_more_than_the_limit() {
    let mut admitted = 0;
    for seed in 0..runs() {
        match Simulation::new(seed, Fault::None).run() {
            Ok(requests) => admitted += requests,
            Err(broken) => panic!("seed {seed}: {broken}"),
        }
    }
    assert!(admitted > 10 * runs(), "{admitted} of {} runs", runs());
}

/// Asserts that the simulation finds a mistake, by a report that contains this.
fn assert_found(fault: Fault, expected: &str) {
    let mut reports = (0..runs()).filter_map(|seed| Simulation::new(seed, fault).run().err());
    assert!(reports.any(|report| report.contains(expected)), "{fault:?}: {expected}");
}

const EXCEEDED: &str = "are held, and";

#[test]
fn without_an_epoch_the_limit_is_exceeded() {
    assert_found(Fault::NoEpoch, EXCEEDED);
}

#[test]
fn with_answers_of_an_earlier_epoch_the_limit_is_exceeded() {
    assert_found(Fault::AcceptsOldAnswers, EXCEEDED);
}

#[test]
fn without_an_extension_by_renewals_the_limit_is_exceeded() {
    assert_found(Fault::NoExtension, EXCEEDED);
}

#[test]
fn without_a_correction_a_slot_is_lost() {
    assert_found(Fault::NoCorrection, "are counted");
}

/// It may arrive after the entry has expired, and must not make one then.
#[test]
fn a_lost_renewal_that_may_make_an_entry_begins_an_epoch() {
    let mut slots = KeySlots::new(1, 1);
    let (first, second) = (slots.send(), slots.send());
    slots.executed(first, START, 1);
    assert!(slots.renewal_lost(second));
    let third = slots.send();
    assert!(!slots.renewal_lost(third));
}
