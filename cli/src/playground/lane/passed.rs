//! How many requests at most passed a lane in a short while or in a window.

use tollgate::Micros;

use crate::common::busiest::Busiest;

#[derive(Debug)]
pub(super) struct Passed {
    span: Busiest,
    window: Busiest,
}

impl Passed {
    pub(super) fn new(span: Micros, window: Micros) -> Self {
        let (span, window) = (Busiest::new(span), Busiest::new(window));
        Self { span, window }
    }

    pub(super) fn add(&mut self, at: Micros) {
        self.span.add(at);
        self.window.add(at);
    }

    /// The most within a short while.
    pub(super) fn most_in_span(&self) -> usize {
        self.span.most()
    }

    /// The most within any time as long as the window.
    pub(super) fn most_in_window(&self) -> usize {
        self.window.most()
    }
}
