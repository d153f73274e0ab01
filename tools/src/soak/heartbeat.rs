//! When the machine stood still.
//!
//! A thread that wants to run every few milliseconds, and has nothing else to do, tells when it could not. As late may any
//! other be, through no fault of its own. Every process has one, and they tell the soak; and one asks Redis for nothing
//! but an answer, which comes late if Redis, or the way to it, did not get to run.

use std::{
    fmt,
    str::FromStr,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use crate::limits::DEADLINE;

const BEAT: Duration = Duration::from_millis(5);

/// What matters to a request: it passes through four threads, of a process, the proxy, Redis and the proxy again. If each
/// of them is this late, the deadline has passed.
const LATE: Duration = Duration::from_millis(DEADLINE.as_millis() as u64 / 4);

#[derive(Clone, Copy)]
pub(crate) struct Stall {
    pub(crate) from: Instant,
    pub(crate) to: Instant,
}

#[derive(Clone)]
pub(crate) struct Heartbeat(Arc<Mutex<Vec<Stall>>>);

impl Heartbeat {
    /// With something to do in every beat.
    pub(crate) fn start(mut act: impl FnMut() + Send + 'static) -> Self {
        let heartbeat = Self(Arc::default());
        let told = heartbeat.clone();
        thread::spawn(move || {
            loop {
                let from = Instant::now();
                thread::sleep(BEAT);
                act();
                let to = Instant::now();
                if to - from > BEAT + LATE {
                    told.stalls(|stalls| stalls.push(Stall { from, to }));
                }
            }
        });
        heartbeat
    }

    /// Those since it was last asked.
    pub(crate) fn take(&self) -> Vec<Stall> {
        self.stalls(std::mem::take)
    }

    fn stalls<T>(&self, act: impl FnOnce(&mut Vec<Stall>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// From how long ago to how long ago, in microseconds: a process has no other way to tell another one when it was.
impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {}",
            self.from.elapsed().as_micros(),
            self.to.elapsed().as_micros()
        )
    }
}

impl FromStr for Stall {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let now = Instant::now();
        let (from, to) = text.split_once(' ').ok_or(())?;
        let ago = |ago: &str| now.checked_sub(Duration::from_micros(ago.parse().ok()?));
        let (from, to) = (ago(from).ok_or(())?, ago(to).ok_or(())?);
        Ok(Self { from, to })
    }
}
