//! The pace of simulated time: real time at a selected speed in whole milliseconds, or paused.

use std::{fmt, str::FromStr, time::Duration};

use tokio::time::Instant;
use tollgate::Micros;

/// The resolution of simulated time. It stops between two milliseconds only at a request.
pub(crate) const MILLISECOND: Micros = 1000;

/// Bounds the time that passes between two frames: a session whose page was slow resumes where it was.
const MAX_ELAPSED: Duration = Duration::from_millis(250);

/// The speed, as a fraction of real time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Speed(u64, u64);

impl Speed {
    pub(crate) const REAL: Self = Self(1, 1);

    /// With their names in the page and its URL.
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

    fn from_str(text: &str) -> Result<Self, ()> {
        let found = Self::ALL.iter().find(|(name, _)| *name == text);
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

/// Converts elapsed real time to simulated time.
#[derive(Debug)]
pub(crate) struct Pace {
    pub(crate) speed: Speed,
    pub(crate) paused: bool,
    last: Instant,
    /// The fraction of a millisecond of simulated time, in microseconds.
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

    /// The simulated time since the last call.
    pub(crate) fn elapsed(&mut self) -> Micros {
        let now = Instant::now();
        let real = now
            .duration_since(std::mem::replace(&mut self.last, now))
            .min(MAX_ELAPSED);
        if self.paused {
            return 0;
        }
        let Speed(numerator, denominator) = self.speed;
        let elapsed = self.rest + real.as_micros() as Micros * numerator / denominator;
        self.rest = elapsed % MILLISECOND;
        elapsed - self.rest
    }
}
