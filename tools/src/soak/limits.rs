//! The limits of the four processes.

use std::time::Duration;

use tollgate::{FixedWindow, Micros, Quota};

pub(crate) const PROCESSES: usize = 4;
/// The default of a store.
const CONNECTIONS_PER_PROCESS: usize = 2;
/// The connections of all processes to a node, and the pinger's.
pub(crate) const CONNECTIONS_PER_NODE: usize = CONNECTIONS_PER_PROCESS * PROCESSES + 1;
/// The users of the faults scenario.
pub(crate) const USERS: usize = 8;
pub(crate) const DEADLINE: Duration = Duration::from_millis(100);

pub(crate) const LIMIT: u32 = 20;
pub(crate) const WINDOW: Duration = Duration::from_secs(2);

/// A window opens with the first request that it admits, so every decision identifies its window.
pub(crate) fn algorithm() -> FixedWindow {
    FixedWindow::new(Quota::new(LIMIT, WINDOW)).anchored()
}

/// A layer's failure mode while Redis is unavailable. Each mode has its own layer and limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mode {
    Open,
    Closed,
    Local,
}

impl Mode {
    pub(crate) const ALL: [Self; 3] = [Self::Open, Self::Closed, Self::Local];

    /// The name of its limit; its route is `/` and this name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
            Self::Local => "local",
        }
    }
}

pub(crate) const USER_HEADER: &str = "x-user-id";

/// The Redis key of a user.
pub(crate) fn key(mode: Mode, user: usize) -> String {
    let window = WINDOW.as_micros() as Micros;
    format!(
        "rate_limit:fixed_window:{}:{window}:anchored:{USER_HEADER}:{user}",
        mode.name()
    )
}
