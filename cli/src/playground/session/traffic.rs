//! The requests that are still to be sent, and when.

use std::{
    collections::{BTreeMap, VecDeque},
    iter::repeat_n,
};

use tollgate::Micros;

use super::{action::Action, overload::Overload, settings::Settings};

#[derive(Debug)]
pub(crate) struct Traffic {
    /// The actions of a session that is replayed.
    script: VecDeque<(Micros, Action)>,
    /// The number of requests by time.
    planned: BTreeMap<Micros, u32>,
    stream: Option<Stream>,
}

/// Requests at a constant rate.
#[derive(Clone, Copy, Debug)]
struct Stream {
    start: Micros,
    /// The number of requests sent.
    sent: Micros,
    /// The time of the next request.
    next: Micros,
}

impl Traffic {
    pub(crate) fn new(script: impl Iterator<Item = (Micros, Action)>) -> Self {
        Self {
            script: script.collect(),
            planned: BTreeMap::new(),
            stream: None,
        }
    }

    /// The time of the next request or scripted action.
    pub(crate) fn next(&self) -> Option<Micros> {
        let script = self.script.front().map(|(at, _)| *at);
        let planned = self.planned.keys().next().copied();
        let stream = self.stream.map(|stream| stream.next);
        [script, planned, stream].into_iter().flatten().min()
    }

    /// Takes the next scripted action if it is due. Requests of the same time are sent first, because the user had seen them.
    pub(crate) fn next_scripted(&mut self, now: Micros) -> Option<Action> {
        let (at, action) = *self.script.front()?;
        (at <= now).then(|| {
            self.script.pop_front();
            action
        })
    }

    /// Takes the requests that are due now and returns their number.
    pub(crate) fn take_due(&mut self, now: Micros, settings: &Settings) -> u32 {
        let planned = self.planned.remove(&now).unwrap_or(0);
        let stream = self.stream.as_mut().filter(|stream| stream.next == now);
        match stream {
            Some(stream) => {
                stream.sent += 1;
                stream.next = stream.start + settings.stream_offset(stream.sent);
                planned + 1
            }
            None => planned,
        }
    }

    /// Plans the requests of an action. Returns the time to skip to, so that the user need not wait for a distant edge.
    pub(crate) fn plan_action(&mut self, action: Action, now: Micros, settings: &Settings) -> Micros {
        match action {
            Action::One => self.plan(now, 1),
            Action::Burst => self.plan(now, settings.burst),
            Action::Stream => {
                let (start, sent, next) = (now, 0, now);
                self.stream = Some(Stream { start, sent, next });
            }
            Action::Stop => self.stream = None,
            Action::Overload => Overload::new(now, settings).requests().for_each(|at| self.plan(at, 1)),
            Action::Edge => return self.plan_edge_burst(now, settings),
        }
        now
    }

    /// The times of the first `max` planned requests, for the page to draw.
    pub(crate) fn planned(&self, max: usize) -> Vec<Micros> {
        let times = self
            .planned
            .iter()
            .flat_map(|(at, count)| repeat_n(*at, *count as usize));
        times.take(max).collect()
    }

    pub(crate) fn is_streaming(&self) -> bool {
        self.stream.is_some()
    }

    fn plan(&mut self, at: Micros, count: u32) {
        *self.planned.entry(at).or_default() += count;
    }

    /// Plans as many requests as the limit, evenly in the tenth of a window before its edge, and as many in the tenth after it.
    fn plan_edge_burst(&mut self, now: Micros, settings: &Settings) -> Micros {
        let window = settings.window_micros();
        let side = settings.span() / 2;
        let edge = (now + side).next_multiple_of(window);
        let limit = Micros::from(settings.limit);
        for start in [edge - side, edge] {
            (0..limit).for_each(|nth| self.plan(start + nth * side / limit, 1));
        }
        now.max(edge - side - side / 2)
    }
}
