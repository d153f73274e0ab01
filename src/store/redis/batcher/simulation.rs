//! Simulated load on queues: requests that arrive at a rate, and a Redis with a round trip and a capacity. Time is simulated, so the
//! results are exact.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::{sync::oneshot, time::Instant};

use super::{
    overload::Overload,
    queue::{CallId, Enqueued, Next, Queue},
};
use crate::{
    algorithm::FixedWindow,
    charge::Charge,
    key::Key,
    limit::Limit,
    operation::Operation,
    quota::Quota,
    store::redis::batch::{Request, Response},
};

const TIMEOUT: Duration = Duration::from_millis(100);

/// Requests from nodes to a Redis.
#[derive(Clone, Copy)]
struct Load {
    nodes: usize,
    requests_per_second: u32,
    round_trip: Duration,
    /// What Redis needs for a call, and for each of its charges.
    call_time: Duration,
    charge_time: Duration,
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    offered: u64,
    decided: u64,
    /// Charges of requests whose deadline had passed when Redis replied.
    wasted: u64,
}

struct Simulation {
    load: Load,
    now: Instant,
    /// When Redis has executed all calls that it has received.
    idle_at: Instant,
    queues: Vec<Queue>,
    /// When Redis last replied to each node.
    last_replies: Vec<Instant>,
    events: BTreeMap<(Instant, u64), Event>,
    scheduled: u64,
    /// A request whose receiver is dropped counts as cancelled.
    receivers: Vec<oneshot::Receiver<Response>>,
    count: Count,
}

enum Event {
    Arrival,
    /// A sender task starts, or has waited.
    Sender(usize, CallId),
    /// Redis replies, or the time of the call is over.
    CallEnd(Call),
}

struct Call {
    node: usize,
    id: CallId,
    is_inline: bool,
    requests: Vec<Request>,
    sent: Instant,
    reply: Instant,
    last_deadline: Instant,
}

impl Load {
    /// The counts within `span`, after `warm_up`.
    fn run_warm(self, warm_up: Duration, span: Duration) -> Count {
        let mut simulation = Simulation::new(self);
        simulation.schedule(simulation.now, Event::Arrival);
        simulation.run(warm_up);
        simulation.count = Count::default();
        simulation.run(span);
        simulation.count
    }

    /// The charges per second that Redis can execute in batches of this weight.
    fn capacity(self, weight: u32) -> f64 {
        1.0 / (self.charge_time + self.call_time / weight).as_secs_f64()
    }
}

impl Simulation {
    fn new(load: Load) -> Self {
        let start = Instant::now();
        let overload = Arc::new(Overload::new(&"redis".into()));
        let queue = |_| Queue::new(TIMEOUT, None, &overload);
        Self {
            load,
            now: start,
            idle_at: start,
            queues: (0..load.nodes).map(queue).collect(),
            last_replies: vec![start; load.nodes],
            events: BTreeMap::new(),
            scheduled: 0,
            receivers: Vec::new(),
            count: Count::default(),
        }
    }

    /// The counts of requests that arrive within `span`, all of which have ended.
    fn offer(&mut self, span: Duration) -> Count {
        self.count = Count::default();
        self.schedule(self.now, Event::Arrival);
        self.run(span);
        self.events.retain(|_, event| !matches!(event, Event::Arrival));
        self.run(2 * TIMEOUT);
        self.count
    }

    fn schedule(&mut self, at: Instant, event: Event) {
        self.scheduled += 1;
        self.events.insert((at, self.scheduled), event);
    }

    fn run(&mut self, span: Duration) {
        let end = self.now + span;
        while let Some(next) = self.events.first_entry()
            && next.key().0 < end
        {
            let ((now, _), event) = next.remove_entry();
            self.now = now;
            match event {
                Event::Arrival => self.arrive(),
                Event::Sender(node, id) => self.send_queued(node, id),
                Event::CallEnd(call) => self.end_call(call),
            }
        }
        self.now = end;
    }

    fn arrive(&mut self) {
        self.count.offered += 1;
        let interval = Duration::from_secs(1) / self.load.requests_per_second;
        self.schedule(self.now + interval, Event::Arrival);
        let limit = Limit::new("load", FixedWindow::new(Quota::per_second(1)));
        let operation = Operation::Acquire(Charge::new(limit, Key::GLOBAL).into());
        let (request, receiver) = Request::new(operation, self.now + TIMEOUT);
        self.receivers.push(receiver);
        let node = self.scheduled as usize % self.queues.len();
        match self.queues[node].push(request, self.now) {
            Enqueued::SendInline(id, request) => self.send(node, id, true, vec![*request]),
            Enqueued::SpawnSender(id) => self.schedule(self.now, Event::Sender(node, id)),
            Enqueued::Queued => {}
        }
    }

    fn send_queued(&mut self, node: usize, id: CallId) {
        match self.queues[node].next(id, self.now) {
            Next::Send { batch, spawn } => {
                if let Some(id) = spawn {
                    self.schedule(self.now, Event::Sender(node, id));
                }
                self.send(node, id, false, batch);
            }
            // Timers have a resolution of a millisecond.
            Next::WaitUntil(at) => self.schedule(at + Duration::from_millis(1), Event::Sender(node, id)),
            Next::End => assert!(self.queues[node].end(id).is_empty(), "queued requests have a sender"),
        }
    }

    fn send(&mut self, node: usize, id: CallId, is_inline: bool, requests: Vec<Request>) {
        let sent = self.now;
        let received = sent + self.load.round_trip / 2;
        let time = self.load.call_time + self.load.charge_time * requests.len() as u32;
        self.idle_at = self.idle_at.max(received) + time;
        let reply = self.idle_at + self.load.round_trip / 2;
        let last_deadline = requests
            .iter()
            .map(|request| request.deadline)
            .max()
            .expect("a batch is not empty");
        let call = Call {
            node,
            id,
            is_inline,
            requests,
            sent,
            reply,
            last_deadline,
        };
        self.schedule(reply.min(last_deadline), Event::CallEnd(call));
    }

    fn end_call(&mut self, call: Call) {
        let Call {
            node, id, sent, reply, ..
        } = call;
        let has_reply = self.now == reply;
        if has_reply {
            self.last_replies[node] = self.now;
        } else if self.last_replies[node] > sent && self.now == call.last_deadline {
            let end = reply.min(call.last_deadline + TIMEOUT);
            return self.schedule(end, Event::CallEnd(call));
        }
        for request in call.requests {
            match has_reply && reply < request.deadline {
                true => self.count.decided += 1,
                false => self.count.wasted += 1,
            }
        }
        let round_trip = if has_reply { Ok(reply - sent) } else { Err(sent) };
        let queue = &self.queues[node];
        queue.record(id, Some(round_trip), 0, self.now);
        match call.is_inline {
            true => assert!(queue.end(id).is_empty(), "queued requests have a sender"),
            false => self.send_queued(node, id),
        }
    }
}

/// A Redis nearby, with a capacity of about 200,000 charges per second.
const FAST: Load = Load {
    nodes: 1,
    requests_per_second: 20_000,
    round_trip: Duration::from_micros(200),
    call_time: Duration::from_micros(20),
    charge_time: Duration::from_micros(5),
};

#[tokio::test]
async fn an_idle_redis_decides_every_request_up_to_a_round_trip_of_seven_tenths_of_the_timeout() {
    for milliseconds in [0, 2, 30, 49, 60, 70] {
        for requests_per_second in [200, 20_000] {
            let round_trip = Duration::from_millis(milliseconds);
            let load = Load {
                round_trip,
                requests_per_second,
                ..FAST
            };
            let Count {
                offered,
                decided,
                wasted,
            } = Simulation::new(load).offer(Duration::from_millis(500));
            let expected = u64::from(requests_per_second) / 2;
            assert_eq!((offered, decided, wasted), (expected, expected, 0), "{milliseconds} ms");
        }
    }
}

#[tokio::test]
async fn a_stall_is_forgotten() {
    for milliseconds in [2, 30, 70] {
        for requests_per_second in [200, 40_000] {
            let load = Load {
                round_trip: Duration::from_millis(milliseconds),
                requests_per_second,
                ..FAST
            };
            let mut simulation = Simulation::new(load);
            simulation.offer(TIMEOUT);
            let stall = 3 * TIMEOUT;
            simulation.idle_at = simulation.now + stall;
            let during = simulation.offer(stall + Duration::from_secs(1));
            assert!(during.decided < during.offered, "the stall is long");
            let after = simulation.offer(Duration::from_millis(300));
            assert_eq!(
                after.decided, after.offered,
                "{milliseconds} ms, {requests_per_second} requests/s"
            );
        }
    }
}

#[tokio::test]
async fn goodput_stays_when_three_times_the_capacity_is_offered() {
    for (nodes, weight) in [(1, 128), (8, 32)] {
        for milliseconds in [0, 10, 30, 60] {
            let round_trip = Duration::from_millis(milliseconds);
            let charge_time = 50 * FAST.charge_time;
            let mut load = Load {
                nodes,
                round_trip,
                charge_time,
                ..FAST
            };
            let capacity = load.capacity(weight);
            load.requests_per_second = (3.0 * capacity) as u32;
            let count = load.run_warm(Duration::from_secs(1), Duration::from_secs(1));
            let goodput = count.decided as f64 / capacity;
            let waste = count.wasted as f64 / (count.wasted + count.decided) as f64;
            assert!(
                goodput >= 0.9 && waste <= 0.05,
                "{nodes} nodes, {milliseconds} ms: {goodput:.3} {waste:.3}"
            );
        }
    }
}
