//! The maximum number of events in any time span of a given length.

use std::collections::VecDeque;

use tollgate::Micros;

#[derive(Debug)]
pub(crate) struct PeakCount {
    length: Micros,
    /// The events of the last `length`, oldest first.
    recent: VecDeque<Micros>,
    max: usize,
}

impl PeakCount {
    pub(crate) fn new(length: Micros) -> Self {
        Self {
            length,
            recent: VecDeque::new(),
            max: 0,
        }
    }

    /// Adds an event. Times must not decrease.
    pub(crate) fn add(&mut self, at: Micros) {
        // The span is half-open: an event exactly `length` ago is outside of it.
        while self.recent.front().is_some_and(|first| first + self.length <= at) {
            self.recent.pop_front();
        }
        self.recent.push_back(at);
        self.max = self.max.max(self.recent.len());
    }

    pub(crate) fn max(&self) -> usize {
        self.max
    }
}
