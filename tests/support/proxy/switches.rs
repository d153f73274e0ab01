//! What is to become of bytes, and who waits to learn it.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use super::link::Link;

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    ToServer,
    ToClient,
}

#[derive(Default)]
pub(super) struct Set {
    /// By way.
    pub(super) delays: [Duration; 2],
    pub(super) holds: bool,
    pub(super) drops: bool,
    /// Taken by the link that is replied to next.
    pub(super) cut_after: Option<usize>,
    pub(super) links: Vec<Arc<Link>>,
    pub(super) made: usize,
    pub(super) threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
pub(super) struct Switches {
    set: Mutex<Set>,
    changed: Condvar,
}

impl Switches {
    /// Changes the switches, or looks at them; whoever waits looks again.
    pub(super) fn set<T>(&self, change: impl FnOnce(&mut Set) -> T) -> T {
        let result = change(&mut self.lock());
        self.changed.notify_all();
        result
    }

    /// Waits until what came at `arrived` may go on. It may not at all on a link that has been cut or fell silent.
    pub(super) fn let_through(&self, link: &Link, way: Way, arrived: Instant) -> bool {
        let mut set = self.lock();
        loop {
            let late = arrived + set.delays[way as usize];
            let now = Instant::now();
            if link.is_dead() {
                return false;
            } else if set.holds {
                set = self.changed.wait(set).unwrap();
            } else if now < late {
                set = self.changed.wait_timeout(set, late - now).unwrap().0;
            } else {
                return true;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Set> {
        self.set.lock().unwrap()
    }
}
