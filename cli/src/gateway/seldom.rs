//! What happens often, and is worth a line now and then.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// The least from one line to the next.
const EVERY: Duration = Duration::from_secs(10);

#[derive(Default)]
pub(crate) struct Seldom(Mutex<Told>);

#[derive(Default)]
struct Told {
    last: Option<Instant>,
    untold: u64,
}

impl Seldom {
    /// It has happened. If it is time for a line, this writes it, and is told how often it happened since the last.
    pub(crate) fn tell(&self, line: impl FnOnce(u64)) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.untold += 1;
        if told.last.is_none_or(|last| last.elapsed() >= EVERY) {
            line(told.untold);
            *told = Told {
                last: Some(Instant::now()),
                untold: 0,
            };
        }
    }
}
