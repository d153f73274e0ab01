//! When requests passed a lane, and how many at most did in a short while or in a window.

use std::collections::VecDeque;

use tollgate::Micros;

#[derive(Debug)]
pub(super) struct Passed {
    busiest: [Busiest; 2],
}

/// The most that passed within some length of time, wherever that begins.
#[derive(Debug)]
struct Busiest {
    length: Micros,
    /// Those of the last such length, oldest first.
    recent: VecDeque<Micros>,
    most: usize,
}

impl Passed {
    pub(super) fn new(span: Micros, window: Micros) -> Self {
        let busiest = [span, window].map(|length| Busiest {
            length,
            recent: VecDeque::new(),
            most: 0,
        });
        Self { busiest }
    }

    pub(super) fn add(&mut self, at: Micros) {
        self.busiest.iter_mut().for_each(|busiest| busiest.add(at));
    }

    /// The most within a short while.
    pub(super) fn most_in_span(&self) -> usize {
        self.busiest[0].most
    }

    /// The most within any time as long as the window.
    pub(super) fn most_in_window(&self) -> usize {
        self.busiest[1].most
    }
}

impl Busiest {
    fn add(&mut self, at: Micros) {
        // What is exactly that long ago is not within it any more.
        while self.recent.front().is_some_and(|first| first + self.length <= at) {
            self.recent.pop_front();
        }
        self.recent.push_back(at);
        self.most = self.most.max(self.recent.len());
    }
}
