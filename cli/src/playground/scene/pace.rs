//! How a scene's time goes by: as fast as the user says, in whole milliseconds, or not at all.

use std::{fmt, str::FromStr, time::Duration};

use tokio::time::Instant;
use tollgate::Micros;

/// What a scene's time moves by, unless it is stopped at something that comes in between.
pub(crate) const MILLISECOND: Micros = 1000;

/// A scene whose page could not be told for longer than this goes on from where it was.
const GAP: Duration = Duration::from_millis(250);

/// How fast, as a fraction of the real time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Speed(u64, u64);

impl Speed {
    pub(crate) const REAL: Self = Self(1, 1);

    /// As the page and a scene's address spell them.
    const ALL: [(&str, Self); 5] = [
        ("0.1", Self(1, 10)),
        ("0.25", Self(1, 4)),
        ("0.5", Self(1, 2)),
        ("1", Self::REAL),
        ("4", Self(4, 1)),
    ];
}

impl FromStr for Speed {
    type Err = ();

    fn from_str(given: &str) -> Result<Self, ()> {
        let found = Self::ALL.iter().find(|(name, _)| *name == given);
        found.map(|(_, speed)| *speed).ok_or(())
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL
            .iter()
            .find(|(_, speed)| speed == self)
            .map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

/// Turns the time that goes by into the scene's.
#[derive(Debug)]
pub(crate) struct Pace {
    pub(crate) speed: Speed,
    pub(crate) paused: bool,
    last: Instant,
    /// What is less than a millisecond of the scene's time, in microseconds.
    rest: Micros,
}

impl Pace {
    pub(crate) fn new(speed: Speed, paused: bool) -> Self {
        Self {
            speed,
            paused,
            last: Instant::now(),
            rest: 0,
        }
    }

    /// How far the scene's time has moved since it was asked before.
    pub(crate) fn gone(&mut self) -> Micros {
        let now = Instant::now();
        let real = now.duration_since(std::mem::replace(&mut self.last, now)).min(GAP);
        if self.paused {
            return 0;
        }
        let Speed(times, in_time) = self.speed;
        let gone = self.rest + real.as_micros() as Micros * times / in_time;
        self.rest = gone % MILLISECOND;
        gone - self.rest
    }
}
