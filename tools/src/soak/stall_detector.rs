//! Detects times in which the machine did not schedule our threads.
//!
//! A thread that does nothing but wake up every few milliseconds records when it woke up late: any other thread may have been
//! delayed as long. Every process runs one and reports to the soak. One more detector pings Redis on each tick, so it also
//! records when Redis, or the proxy in front of it, was not scheduled.

use std::{
    fmt,
    str::FromStr,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use crate::limits::DEADLINE;

const TICK: Duration = Duration::from_millis(5);

/// The smallest delay that is a stall. A request passes through four threads (a process, the proxy, Redis, the proxy again): if
/// each of them is this late, the request misses its deadline.
const MIN_STALL: Duration = Duration::from_millis(DEADLINE.as_millis() as u64 / 4);

#[derive(Clone, Copy)]
pub(crate) struct Stall {
    pub(crate) from: Instant,
    pub(crate) to: Instant,
}

#[derive(Clone)]
pub(crate) struct StallDetector(Arc<Mutex<Vec<Stall>>>);

impl StallDetector {
    /// Starts a detector that calls `on_tick` on each tick.
    pub(crate) fn start(mut on_tick: impl FnMut() + Send + 'static) -> Self {
        let detector = Self(Arc::default());
        let recorder = detector.clone();
        thread::spawn(move || {
            loop {
                let from = Instant::now();
                thread::sleep(TICK);
                on_tick();
                let to = Instant::now();
                if to - from > TICK + MIN_STALL {
                    recorder.with_stalls(|stalls| stalls.push(Stall { from, to }));
                }
            }
        });
        detector
    }

    /// The stalls since the last call.
    pub(crate) fn take(&self) -> Vec<Stall> {
        self.with_stalls(std::mem::take)
    }

    fn with_stalls<T>(&self, act: impl FnOnce(&mut Vec<Stall>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Begin and end as ages in microseconds, since an `Instant` has no meaning in another process.
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
        let parse = |age: &str| now.checked_sub(Duration::from_micros(age.parse().ok()?));
        let (from, to) = (parse(from).ok_or(())?, parse(to).ok_or(())?);
        Ok(Self { from, to })
    }
}
