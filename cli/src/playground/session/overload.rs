//! Sustained overload: several times the limit, for several windows.

use tollgate::Micros;

use super::settings::Settings;

/// How many times the limit arrives in each window.
const FACTOR: Micros = 5;

/// How many windows it takes: the first shows what was saved, the others what each algorithm sustains.
pub(crate) const OVERLOAD_WINDOWS: usize = 3;

/// An overload from `start` on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overload {
    pub(crate) start: Micros,
    pub(crate) window: Micros,
    /// The requests of each window.
    pub(crate) offered: Micros,
}

impl Overload {
    pub(crate) fn new(start: Micros, settings: &Settings) -> Self {
        Self {
            start,
            window: settings.window_micros(),
            offered: FACTOR * Micros::from(settings.limit),
        }
    }

    /// The times of its requests, evenly distributed.
    pub(crate) fn requests(self) -> impl Iterator<Item = Micros> {
        let all = self.offered * OVERLOAD_WINDOWS as Micros;
        (0..all).map(move |nth| self.start + nth * self.window / self.offered)
    }

    pub(crate) fn end(&self) -> Micros {
        self.start + self.window * OVERLOAD_WINDOWS as Micros
    }

    /// The number of its window that contains this time, from 0.
    pub(crate) fn window_at(&self, time: Micros) -> Option<usize> {
        let nth = time.checked_sub(self.start)? / self.window;
        usize::try_from(nth).ok().filter(|nth| *nth < OVERLOAD_WINDOWS)
    }
}
