//! Waiting for conditions, with a timeout.

use std::{
    panic::Location,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use tokio::task::JoinHandle;

/// Long enough for a busy machine: what takes longer never happens.
pub const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// Polls a condition until it is true, every 10 ms, since a dozen tests may be polling at the same time.
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    until_some(what, || condition().then_some(()));
}

/// Polls until there is a value.
pub fn until_some<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + TEST_TIMEOUT;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "timed out waiting until {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Polls an asynchronous condition until it is true, without blocking the runtime.
pub async fn eventually(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    let end = Instant::now() + TEST_TIMEOUT;
    while !condition().await {
        assert!(Instant::now() < end, "timed out waiting until {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Yields to the other tasks of this runtime until the condition is true. No clock has to advance.
#[track_caller]
pub fn yield_until(mut condition: impl AsyncFnMut() -> bool) -> impl Future<Output = ()> {
    let (end, here) = (Instant::now() + TEST_TIMEOUT, Location::caller());
    async move {
        while !condition().await {
            assert!(Instant::now() < end, "timed out at {here}");
            tokio::task::yield_now().await;
        }
    }
}

/// Awaits a future, and panics after [`TEST_TIMEOUT`].
#[track_caller]
pub fn with_timeout<T>(what: impl Future<Output = T>) -> impl Future<Output = T> {
    let here = Location::caller();
    async move {
        let in_time = tokio::time::timeout(TEST_TIMEOUT, what).await;
        in_time.unwrap_or_else(|_| panic!("timed out at {here}"))
    }
}

/// Asserts the time elapsed on the runtime's clock, whose timers have a resolution of one millisecond.
#[track_caller]
pub fn assert_elapsed(since: tokio::time::Instant, expected: Duration) {
    let (elapsed, max) = (since.elapsed(), expected + Duration::from_millis(1));
    assert!(
        (expected..=max).contains(&elapsed),
        "{elapsed:?} instead of {expected:?}"
    );
}

/// Keeps the runtime's clock stopped until it is released, also while the runtime is idle. Only on a current-thread runtime.
pub struct StoppedClock {
    end: mpsc::Sender<()>,
    task: JoinHandle<()>,
}

/// Stops the runtime's clock. A paused clock of tokio advances to the next timer when the runtime is idle, as it is while Redis
/// decides, but not while a blocking task runs.
pub fn stop_clock() -> StoppedClock {
    tokio::time::pause();
    let (end, ended) = mpsc::channel();
    let task = tokio::task::spawn_blocking(move || _ = ended.recv());
    StoppedClock { end, task }
}

impl StoppedClock {
    /// Ends the blocking task. The clock stays paused, and advances to the next timer whenever the runtime is idle.
    pub async fn end(self) {
        drop(self.end);
        self.task.await.unwrap();
    }
}
