//! A scene while it is played: moves its time from one request to the next, and sends each to every lane.

use std::time::Duration;

use tokio::{
    sync::{mpsc, watch},
    task::yield_now,
    time::{MissedTickBehavior, interval},
};
use tollgate::{Invalid, ManualClock, Micros, Store};

use super::{
    frame::{Frame, Opening},
    pace::Pace,
    play::Play,
    press::{Command, Press},
    settings::Settings,
    traffic::Traffic,
};
use crate::playground::lane::{Lane, Sent};

/// Thirty frames a second are as good as more, to the eye.
const BETWEEN_FRAMES: Duration = Duration::from_millis(33);

/// More than fit on a screen side by side.
const MOST_PLANNED: usize = 400;

/// More than fit on a timeline, of whole requests: each comes to five lanes.
const MOST_TOLD: usize = 5 * 1000;

pub(crate) struct Scene<St> {
    settings: Settings,
    /// What the store goes by. It starts at 0, where windows of any length have an edge.
    clock: ManualClock,
    lanes: Vec<Lane<St>>,
    pace: Pace,
    play: Play,
    traffic: Traffic,
    full: bool,
    /// What has come since the last frame.
    requests: Vec<Sent>,
}

impl<St: Store> Scene<St> {
    /// A scene at its beginning, on a store that goes by `clock`.
    pub(crate) fn new(settings: Settings, store: &St, clock: ManualClock) -> Result<Self, Invalid> {
        let rules = settings.rules()?.into_iter().enumerate();
        let lanes = rules.map(|(place, rule)| Lane::new(place, rule, &settings, store, &clock));
        Ok(Self {
            lanes: lanes.collect::<Result<_, _>>()?,
            clock,
            pace: Pace::new(settings.speed, settings.paused),
            traffic: Traffic::new(settings.play.presses()),
            play: settings.play.clone(),
            full: false,
            requests: Vec::new(),
            settings,
        })
    }

    pub(crate) fn opening(&self, id: String, store: &'static str) -> Opening {
        Opening {
            id,
            store,
            lanes: self.lanes.iter().map(Lane::about).collect(),
            span: self.settings.span(),
            step: self.settings.step(),
            settings: self.settings.clone(),
        }
    }

    /// Plays until nobody looks any more, or the program ends, and leaves nothing behind.
    pub(crate) async fn play(
        mut self,
        mut commands: mpsc::Receiver<Command>,
        frames: mpsc::Sender<Frame>,
        mut ending: watch::Receiver<bool>,
    ) {
        let mut ticks = interval(BETWEEN_FRAMES);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // It may take a while until it has come so far.
        tokio::select! {
            () = self.go_to(self.settings.at) => {}
            () = frames.closed() => {}
            _ = ending.changed() => return self.forget().await,
        }
        let mut first = true;
        loop {
            tokio::select! {
                Some(command) = commands.recv() => self.obey(command).await,
                _ = ticks.tick(), if first || !self.pace.paused => {
                    let gone = self.pace.gone();
                    self.go_to(self.clock.now() + gone).await;
                }
                () = frames.closed() => break,
                _ = ending.changed() => break,
            }
            first = false;
            let frame = self.frame().await;
            if frames.send(frame).await.is_err() {
                break;
            }
        }
        self.forget().await;
    }

    async fn forget(self) {
        for lane in self.lanes {
            lane.forget().await;
        }
    }

    async fn obey(&mut self, command: Command) {
        // What has gone by until now has gone by at the pace until now.
        let now = self.clock.now() + self.pace.gone();
        self.go_to(now).await;
        match command {
            Command::Press(press) => self.press(press).await,
            Command::Pause => self.pace.paused = true,
            Command::Resume => self.pace.paused = false,
            Command::Speed(speed) => self.pace.speed = speed,
            Command::Step => self.stop_at(now + self.settings.step()).await,
            Command::Next => {
                if let Some(next) = self.traffic.next() {
                    self.stop_at(next).await;
                }
            }
        }
    }

    async fn press(&mut self, press: Press) {
        if press == Press::Stop && !self.traffic.is_streaming() {
            return;
        }
        let now = self.clock.now();
        self.full = !self.play.add(now, press);
        if !self.full {
            let seen = self.traffic.press(press, now, &self.settings);
            self.go_to(seen).await;
        }
    }

    async fn stop_at(&mut self, at: Micros) {
        self.pace.paused = true;
        self.go_to(at).await;
    }

    /// Lets the time go by, with all that comes until then, each at its own microsecond.
    async fn go_to(&mut self, mut until: Micros) {
        while let Some(next) = self.traffic.next().filter(|next| *next <= until) {
            let now = next.max(self.clock.now());
            self.clock.set(now);
            self.see_off();
            for _ in 0..self.traffic.due(now, &self.settings) {
                for lane in &mut self.lanes {
                    self.requests.push(lane.send().await);
                }
                // Nobody sees all of it when an hour is played again at once.
                if self.requests.len() == 2 * MOST_TOLD {
                    self.requests.drain(..MOST_TOLD);
                }
                // Others want to play, too, and somebody may want this to end.
                yield_now().await;
            }
            if let Some(press) = self.traffic.scripted(now) {
                until = until.max(self.traffic.press(press, now, &self.settings));
            }
        }
        self.clock.set(until.max(self.clock.now()));
        self.see_off();
    }

    /// Lets whoever's turn has come leave.
    fn see_off(&mut self) {
        self.lanes.iter_mut().for_each(Lane::see_off);
    }

    async fn frame(&mut self) -> Frame {
        let now = self.clock.now();
        let mut trouble = None;
        let mut lanes = Vec::new();
        for lane in &mut self.lanes {
            if let Err(error) = lane.look().await {
                trouble = Some(error);
            }
            lanes.push(lane.shown(now));
        }
        Frame {
            now,
            speed: self.pace.speed.to_string(),
            paused: self.pace.paused,
            streaming: self.traffic.is_streaming(),
            play: self.play.to_string(),
            full: self.full,
            planned: self.traffic.planned(MOST_PLANNED),
            lanes,
            requests: std::mem::take(&mut self.requests),
            trouble,
        }
    }
}
