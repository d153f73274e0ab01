//! The requests that are still to come, and when.

use std::{
    collections::{BTreeMap, VecDeque},
    iter::repeat_n,
};

use tollgate::Micros;

use super::{press::Press, settings::Settings};

#[derive(Debug)]
pub(crate) struct Traffic {
    /// Presses of a scene that is played again.
    script: VecDeque<(Micros, Press)>,
    /// How many come when.
    planned: BTreeMap<Micros, u32>,
    stream: Option<Stream>,
}

/// Requests that come evenly.
#[derive(Clone, Copy, Debug)]
struct Stream {
    began: Micros,
    /// How many have come.
    came: Micros,
    /// When the next one comes.
    next: Micros,
}

impl Traffic {
    pub(crate) fn new(script: impl Iterator<Item = (Micros, Press)>) -> Self {
        Self {
            script: script.collect(),
            planned: BTreeMap::new(),
            stream: None,
        }
    }

    /// When something comes next: a request, or a press for some.
    pub(crate) fn next(&self) -> Option<Micros> {
        let script = self.script.front().map(|(at, _)| *at);
        let planned = self.planned.keys().next().copied();
        let streamed = self.stream.map(|stream| stream.next);
        [script, planned, streamed].into_iter().flatten().min()
    }

    /// The script's next press, if it was made by now: whoever pressed had seen all that came before.
    pub(crate) fn scripted(&mut self, now: Micros) -> Option<Press> {
        let (at, press) = *self.script.front()?;
        (at <= now).then(|| {
            self.script.pop_front();
            press
        })
    }

    /// How many requests come now.
    pub(crate) fn due(&mut self, now: Micros, settings: &Settings) -> u32 {
        let planned = self.planned.remove(&now).unwrap_or(0);
        let streamed = self.stream.as_mut().filter(|stream| stream.next == now);
        match streamed {
            Some(stream) => {
                stream.came += 1;
                stream.next = stream.began + settings.streamed(stream.came);
                planned + 1
            }
            None => planned,
        }
    }

    /// Plans what is pressed for, and says when there is something to see: a press for what is far off is not waited for.
    pub(crate) fn press(&mut self, press: Press, now: Micros, settings: &Settings) -> Micros {
        match press {
            Press::One => self.plan(now, 1),
            Press::Burst => self.plan(now, settings.burst),
            Press::Stream => {
                let (began, came, next) = (now, 0, now);
                self.stream = Some(Stream { began, came, next });
            }
            Press::Stop => self.stream = None,
            Press::Edge => return self.across_the_edge(now, settings),
        }
        now
    }

    /// Up to `most` of the times of what is planned, for the page to draw.
    pub(crate) fn planned(&self, most: usize) -> Vec<Micros> {
        let each = self
            .planned
            .iter()
            .flat_map(|(at, count)| repeat_n(*at, *count as usize));
        each.take(most).collect()
    }

    pub(crate) fn is_streaming(&self) -> bool {
        self.stream.is_some()
    }

    fn plan(&mut self, at: Micros, count: u32) {
        *self.planned.entry(at).or_default() += count;
    }

    /// As many as the limit in the tenth of a window before its edge, evenly, and as many in the tenth after it.
    fn across_the_edge(&mut self, now: Micros, settings: &Settings) -> Micros {
        let window = settings.window_micros();
        let side = settings.span() / 2;
        let edge = (now + side).next_multiple_of(window);
        let limit = Micros::from(settings.limit);
        for begin in [edge - side, edge] {
            (0..limit).for_each(|nth| self.plan(begin + nth * side / limit, 1));
        }
        now.max(edge - side - side / 2)
    }
}
