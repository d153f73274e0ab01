//! The faults in effect, shared by all connections.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use super::link::Link;

/// The direction of bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Direction {
    ToServer,
    ToClient,
}

#[derive(Default)]
pub(super) struct State {
    /// By direction.
    pub(super) delays: [Duration; 2],
    pub(super) stalls: bool,
    pub(super) blackholes: bool,
    /// Taken by the link with the next reply.
    pub(super) cut_after: Option<usize>,
    pub(super) links: Vec<Arc<Link>>,
    pub(super) total_connections: usize,
    pub(super) threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
pub(super) struct Faults {
    state: Mutex<State>,
    changed: Condvar,
}

impl Faults {
    /// Reads or changes the state, and wakes the waiting writers.
    pub(super) fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = change(&mut self.lock());
        self.changed.notify_all();
        result
    }

    /// Waits until bytes received at `arrived` may be forwarded. Returns false if the link is cut or blackholed.
    pub(super) fn wait_to_forward(&self, link: &Link, direction: Direction, arrived: Instant) -> bool {
        let mut state = self.lock();
        loop {
            let due = arrived + state.delays[direction as usize];
            let now = Instant::now();
            if link.is_dead() {
                return false;
            } else if state.stalls {
                state = self.changed.wait(state).unwrap();
            } else if now < due {
                state = self.changed.wait_timeout(state, due - now).unwrap().0;
            } else {
                return true;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}
