//! Runs a session: advances its clock from one request to the next, and sends each to every lane.

use std::time::Duration;

use tokio::{
    sync::{mpsc, watch},
    task::yield_now,
    time::{MissedTickBehavior, interval},
};
use tollgate::{ConfigError, ManualClock, Micros, Store};

use super::{
    action::{Action, Command},
    frame::{Frame, SessionInfo},
    history::ActionHistory,
    overload::Overload,
    pace::Pace,
    settings::Settings,
    traffic::Traffic,
};
use crate::playground::lane::{Lane, RequestResult};

/// About 30 frames a second.
const FRAME_INTERVAL: Duration = Duration::from_millis(33);

/// More than fit on a screen side by side.
const MAX_PLANNED: usize = 400;

/// More than fit on a timeline: a thousand requests, each to six lanes.
const MAX_RESULTS_PER_FRAME: usize = 6 * 1000;

pub(crate) struct Session<St> {
    settings: Settings,
    /// The clock of the store. It starts at 0, which is the edge of a window of any length.
    clock: ManualClock,
    lanes: Vec<Lane<St>>,
    pace: Pace,
    history: ActionHistory<Action>,
    traffic: Traffic,
    /// The last one.
    overload: Option<Overload>,
    is_full: bool,
    /// The requests since the last frame.
    results: Vec<RequestResult>,
}

impl<St: Store> Session<St> {
    /// A session at time 0, on a store that uses `clock`.
    pub(crate) fn new(settings: Settings, store: &St, clock: ManualClock) -> Result<Self, ConfigError> {
        let algorithms = settings.algorithms()?.into_iter().enumerate();
        let lanes = algorithms.map(|(index, algorithm)| Lane::new(index, algorithm, &settings, store, &clock));
        Ok(Self {
            lanes: lanes.collect::<Result<_, _>>()?,
            clock,
            pace: Pace::new(settings.speed, settings.paused),
            traffic: Traffic::new(settings.play.actions()),
            history: settings.play.clone(),
            overload: None,
            is_full: false,
            results: Vec::new(),
            settings,
        })
    }

    pub(crate) fn info(&self, id: String, store: &'static str) -> SessionInfo {
        SessionInfo {
            id,
            store,
            lanes: self.lanes.iter().map(Lane::info).collect(),
            span: self.settings.span(),
            step: self.settings.step(),
            settings: self.settings.clone(),
        }
    }

    /// Runs until the receiver of the frames is dropped or the process shuts down, then deletes its keys.
    pub(crate) async fn run(
        mut self,
        mut commands: mpsc::Receiver<Command>,
        frames: mpsc::Sender<Frame>,
        mut shutdown: watch::Receiver<bool>,
    ) {
        let mut ticks = interval(FRAME_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // Replaying the URL's actions may take a while.
        tokio::select! {
            () = self.advance_to(self.settings.at) => {}
            () = frames.closed() => {}
            _ = shutdown.changed() => return self.delete_keys().await,
        }
        let mut is_first = true;
        loop {
            tokio::select! {
                Some(command) = commands.recv() => self.handle(command).await,
                _ = ticks.tick(), if is_first || !self.pace.paused => {
                    let elapsed = self.pace.elapsed();
                    self.advance_to(self.clock.now() + elapsed).await;
                }
                () = frames.closed() => break,
                _ = shutdown.changed() => break,
            }
            is_first = false;
            let frame = self.frame().await;
            if frames.send(frame).await.is_err() {
                break;
            }
        }
        self.delete_keys().await;
    }

    async fn delete_keys(self) {
        for lane in self.lanes {
            lane.delete_key().await;
        }
    }

    async fn handle(&mut self, command: Command) {
        // The time until now passes at the previous pace.
        let now = self.clock.now() + self.pace.elapsed();
        self.advance_to(now).await;
        match command {
            Command::Act(action) => self.act(action).await,
            Command::Pause => self.pace.paused = true,
            Command::Resume => self.pace.paused = false,
            Command::SetSpeed(speed) => self.pace.speed = speed,
            Command::Step => self.pause_at(now + self.settings.step()).await,
            Command::Next => {
                if let Some(next) = self.traffic.next() {
                    self.pause_at(next).await;
                }
            }
        }
    }

    async fn act(&mut self, action: Action) {
        if action == Action::Stop && !self.traffic.is_streaming() {
            return;
        }
        let now = self.clock.now();
        self.is_full = !self.history.add(now, action);
        if !self.is_full {
            let start = self.plan_action(action, now);
            self.advance_to(start).await;
        }
    }

    /// Plans the requests of an action, and returns the time to skip to.
    fn plan_action(&mut self, action: Action, now: Micros) -> Micros {
        if action == Action::Overload {
            let overload = Overload::new(now, &self.settings);
            self.overload = Some(overload);
            self.lanes.iter_mut().for_each(|lane| lane.start_overload(overload));
        }
        self.traffic.plan_action(action, now, &self.settings)
    }

    async fn pause_at(&mut self, at: Micros) {
        self.pace.paused = true;
        self.advance_to(at).await;
    }

    /// Advances the clock, and sends the requests until then, each at its exact microsecond.
    async fn advance_to(&mut self, mut until: Micros) {
        while let Some(next) = self.traffic.next().filter(|next| *next <= until) {
            let now = next.max(self.clock.now());
            self.pass_time(now);
            for _ in 0..self.traffic.take_due(now, &self.settings) {
                for lane in &mut self.lanes {
                    self.results.push(lane.send().await);
                }
                // A replay of an hour has more results than a frame can show.
                if self.results.len() == 2 * MAX_RESULTS_PER_FRAME {
                    self.results.drain(..MAX_RESULTS_PER_FRAME);
                }
                // Lets other sessions run, and this one be canceled.
                yield_now().await;
            }
            if let Some(action) = self.traffic.next_scripted(now) {
                until = until.max(self.plan_action(action, now));
            }
        }
        self.pass_time(until.max(self.clock.now()));
    }

    /// Sets the clock. On the way, requests end, each at its exact microsecond, and at the end those are completed whose delay in a queue
    /// has elapsed.
    fn pass_time(&mut self, until: Micros) {
        let next_end = |lanes: &[Lane<St>]| lanes.iter().filter_map(Lane::next_end).min();
        while let Some(end) = next_end(&self.lanes).filter(|end| *end <= until) {
            self.clock.set(end);
            self.lanes.iter_mut().for_each(|lane| lane.end_requests(end));
        }
        self.clock.set(until);
        self.lanes.iter_mut().for_each(Lane::release_queued);
    }

    async fn frame(&mut self) -> Frame {
        let now = self.clock.now();
        let mut store_error = None;
        let mut lanes = Vec::new();
        for lane in &mut self.lanes {
            if let Err(error) = lane.peek().await {
                store_error = Some(error);
            }
            lanes.push(lane.state(now));
        }
        Frame {
            now,
            speed: self.pace.speed.to_string(),
            paused: self.pace.paused,
            streaming: self.traffic.is_streaming(),
            play: self.history.to_string(),
            is_full: self.is_full,
            overload_end: self.overload.as_ref().map(Overload::end),
            planned: self.traffic.planned(MAX_PLANNED),
            lanes,
            requests: std::mem::take(&mut self.results),
            store_error,
        }
    }
}
