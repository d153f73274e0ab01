//! Runs two nodes in real time, and sends each request to its node and to the one without a lease.

use std::{collections::VecDeque, time::Duration};

use tokio::{
    sync::{mpsc, watch},
    time::{Instant, MissedTickBehavior, interval, sleep_until},
};
use tollgate::{Key, Limiter, Micros, RedisStore, RedisStoreBuilder};

use super::{
    action::{NODES, NodeAction},
    frame::{NodeResult, NodeState, NodesFrame, NodesInfo, RedisState},
    node::{Node, NodeDecision},
    settings::NodesSettings,
};
use crate::playground::{lane::seconds, session::ActionHistory};

/// 20 frames a second, each with a call to Redis.
const FRAME_INTERVAL: Duration = Duration::from_millis(50);

/// A stream that is late by more does not catch up.
const MAX_DELAY: Micros = 1_000_000;

/// The times in the URL are in whole milliseconds.
const MILLISECOND: Micros = 1000;

pub(crate) struct NodesSession {
    settings: NodesSettings,
    /// The time 0 of the session.
    start: Instant,
    leased: [Node; NODES],
    unleased: [Node; NODES],
    /// The same limits on another store, to peek and to delete their keys: its calls are not those of a node.
    observers: [Limiter<RedisStore>; 2],
    states: [NodeState; NODES],
    streams: [Option<Stream>; NODES],
    /// The actions that are replayed.
    script: VecDeque<(Micros, NodeAction)>,
    history: ActionHistory<NodeAction>,
    is_full: bool,
    results: Vec<NodeResult>,
    error: Option<String>,
}

/// Requests at a constant rate.
#[derive(Clone, Copy, Debug)]
struct Stream {
    start: Micros,
    sent: Micros,
}

impl NodesSession {
    /// A session at the time of the settings, on stores that `builder` configures.
    pub(crate) fn new(settings: NodesSettings, builder: impl Fn() -> RedisStoreBuilder) -> Result<Self, String> {
        let store = || builder().build().map_err(|error| error.to_string());
        let tiers = || Ok((settings.leased()?, settings.unleased()?));
        let (leased, unleased) = tiers().map_err(|error: tollgate::ConfigError| error.to_string())?;
        let node = |tier| {
            let store = store()?;
            Node::start(Limiter::new(tier, store.clone()), store).map_err(|error| error.to_string())
        };
        let observer = store()?;
        let mut session = Self {
            start: Instant::now() - Duration::from_micros(settings.at),
            leased: [node(leased.clone())?, node(leased.clone())?],
            unleased: [node(unleased.clone())?, node(unleased.clone())?],
            observers: [leased, unleased].map(|tier| Limiter::new(tier, observer.clone())),
            states: Default::default(),
            streams: [None; NODES],
            script: settings.play.actions().collect(),
            history: settings.play.clone(),
            is_full: false,
            results: Vec::new(),
            error: None,
            settings,
        };
        session.skip_to(session.settings.at);
        Ok(session)
    }

    pub(crate) fn info(&self, id: String) -> NodesInfo {
        let settings = self.settings.clone();
        NodesInfo { id, settings }
    }

    /// Runs until the receiver of the frames is dropped or the process shuts down, then deletes its keys.
    pub(crate) async fn run(
        mut self,
        mut commands: mpsc::Receiver<NodeAction>,
        frames: mpsc::Sender<NodesFrame>,
        mut shutdown: watch::Receiver<bool>,
    ) {
        let mut ticks = interval(FRAME_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let due = self.next().map(|at| self.start + Duration::from_micros(at));
            let sends_frame = tokio::select! {
                Some(action) = commands.recv() => {
                    self.act(action).await;
                    true
                }
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => false,
                _ = ticks.tick() => true,
                () = frames.closed() => break,
                _ = shutdown.changed() => break,
            };
            self.send_due().await;
            if sends_frame {
                let frame = self.frame().await;
                if frames.send(frame).await.is_err() {
                    break;
                }
            }
        }
        for node in self.leased.into_iter().chain(self.unleased) {
            node.close().await;
        }
        for observer in &self.observers {
            observer.reset(&Key::GLOBAL).await.ok();
        }
    }

    fn now(&self) -> Micros {
        self.start.elapsed().as_micros() as Micros
    }

    async fn act(&mut self, action: NodeAction) {
        if matches!(action, NodeAction::Stop(node) if self.streams[node].is_none()) {
            return;
        }
        let now = self.now() / MILLISECOND * MILLISECOND;
        self.is_full = !self.history.add(now, action);
        if !self.is_full {
            self.apply(action, now).await;
        }
    }

    async fn apply(&mut self, action: NodeAction, now: Micros) {
        match action {
            NodeAction::One(node) => self.send(node).await,
            NodeAction::Stream(node) => self.streams[node] = Some(Stream { start: now, sent: 0 }),
            NodeAction::Stop(node) => self.streams[node] = None,
        }
    }

    /// Starts and stops the streams of a session that resumes at this time.
    fn skip_to(&mut self, now: Micros) {
        while let Some((_, action)) = self.next_scripted(|at| at < now) {
            match action {
                NodeAction::One(_) => {}
                NodeAction::Stream(node) => self.streams[node] = Some(Stream { start: now, sent: 0 }),
                NodeAction::Stop(node) => self.streams[node] = None,
            }
        }
    }

    /// Takes the next action of the script if it is due.
    fn next_scripted(&mut self, is_due: impl Fn(Micros) -> bool) -> Option<(Micros, NodeAction)> {
        let (at, _) = self.script.front()?;
        is_due(*at).then(|| self.script.pop_front())?
    }

    /// The time of the next request or action.
    fn next(&self) -> Option<Micros> {
        let streams = self.streams.iter().flatten();
        let streams = streams.map(|stream| self.settings.stream_time(stream.start, stream.sent));
        self.script.front().map(|(at, _)| *at).into_iter().chain(streams).min()
    }

    /// Sends the requests that are due, those of streams before those of actions at the same time. What becomes due meanwhile has to wait,
    /// so that commands and frames get their turn even if Redis is slower than the streams.
    async fn send_due(&mut self) {
        let now = self.now();
        while let Some(due) = self.next().filter(|due| *due <= now) {
            for node in 0..NODES {
                let Some(stream) = &mut self.streams[node] else {
                    continue;
                };
                if self.settings.stream_time(stream.start, stream.sent) == due {
                    stream.sent += 1;
                    self.send(node).await;
                }
            }
            while let Some((at, action)) = self.next_scripted(|at| at <= due) {
                self.apply(action, at).await;
            }
            let now = self.now();
            for stream in self.streams.iter_mut().flatten() {
                if self.settings.stream_time(stream.start, stream.sent) + MAX_DELAY < now {
                    *stream = Stream { start: now, sent: 0 };
                }
            }
        }
    }

    /// Sends a request to a node, and to the one without a lease.
    async fn send(&mut self, node: usize) {
        let at = self.now();
        let (leased, unleased) = (self.leased[node].send(), self.unleased[node].send());
        let (leased, unleased) = (leased.await, unleased.await);
        let state = &mut self.states[node];
        let (outcome, summary) = match leased {
            Ok(NodeDecision::ByLease) => {
                state.leased += 1;
                let held = self.leased[node].meter().held();
                (
                    "leased",
                    format!("Admitted by its lease, without a call: it holds {held} more"),
                )
            }
            Ok(NodeDecision::ByRedis(decision)) => match decision.retry_after() {
                _ if decision.admits() => {
                    state.admitted += 1;
                    let remaining = decision.tiers()[0].verdict().remaining();
                    ("admitted", format!("Admitted by Redis: {remaining} left"))
                }
                delay => {
                    state.denied += 1;
                    let delay = delay.unwrap_or_default().as_micros() as Micros;
                    ("denied", format!("Denied: retry in {}", seconds(delay)))
                }
            },
            Ok(NodeDecision::Failed(error)) => {
                state.failed += 1;
                self.error = Some(error);
                ("failed", "No decision: Redis failed".into())
            }
            Err(_) => return,
        };
        match unleased {
            Ok(NodeDecision::ByRedis(decision)) if decision.admits() => state.unleased.admitted += 1,
            Ok(NodeDecision::ByRedis(_)) => state.unleased.denied += 1,
            _ => {}
        }
        state.summary = summary;
        self.results.push(NodeResult {
            lane: node,
            at,
            outcome,
        });
    }

    async fn frame(&mut self) -> NodesFrame {
        let redis = match self.observers[0].peek(&Key::GLOBAL).await {
            Ok(decision) => {
                let verdict = decision.tiers()[0].verdict();
                self.error = None;
                Some(RedisState {
                    remaining: verdict.remaining(),
                    ends_in: verdict.reset_after().as_micros() as Micros,
                })
            }
            Err(error) => {
                self.error = Some(error.to_string());
                None
            }
        };
        let nodes = self.states.iter().enumerate().map(|(node, state)| {
            let (leased, unleased) = (self.leased[node].meter(), self.unleased[node].meter());
            let mut state = state.clone();
            state.streaming = self.streams[node].is_some();
            state.held = leased.held();
            state.leases = leased.leases();
            state.returned = leased.returned();
            state.calls = leased.calls();
            state.unleased.calls = unleased.calls();
            state
        });
        NodesFrame {
            now: self.now(),
            play: self.history.to_string(),
            is_full: self.is_full,
            nodes: nodes.collect(),
            redis,
            requests: std::mem::take(&mut self.results),
            store_error: self.error.clone(),
        }
    }
}
