//! The most that passed within some length of time, wherever that begins.

use std::collections::VecDeque;

use tollgate::Micros;

#[derive(Debug)]
pub(crate) struct Busiest {
    length: Micros,
    /// Those of the last such length, oldest first.
    recent: VecDeque<Micros>,
    most: usize,
}

impl Busiest {
    pub(crate) fn new(length: Micros) -> Self {
        Self {
            length,
            recent: VecDeque::new(),
            most: 0,
        }
    }

    /// One passed, not before any other that did.
    pub(crate) fn add(&mut self, at: Micros) {
        // What is exactly that long ago is not within it any more.
        while self.recent.front().is_some_and(|first| first + self.length <= at) {
            self.recent.pop_front();
        }
        self.recent.push_back(at);
        self.most = self.most.max(self.recent.len());
    }

    pub(crate) fn most(&self) -> usize {
        self.most
    }
}
