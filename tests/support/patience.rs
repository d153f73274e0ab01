//! Waiting for what is bound to happen, without knowing when.

use std::{
    panic::Location,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use tokio::task::JoinHandle;

/// So long that only what never happens takes it, however busy the machine is.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Looks again and again until it is so. Between two looks others get a turn: there may be a dozen of them.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    until_some(what, || is_so().then_some(()));
}

/// The same, until there is something to show for it.
pub fn until_some<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "waited in vain until {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// The same, where looking means asking somebody, and others of this runtime go on meanwhile.
pub async fn eventually(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so().await {
        assert!(Instant::now() < end, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The same, by letting everybody else run: there is nothing to wait for but them, and no clock has to go on.
#[track_caller]
pub fn yielding(mut is_so: impl AsyncFnMut() -> bool) -> impl Future<Output = ()> {
    let (end, here) = (Instant::now() + PATIENCE, Location::caller());
    async move {
        while !is_so().await {
            assert!(Instant::now() < end, "waited in vain at {here}");
            tokio::task::yield_now().await;
        }
    }
}

/// What happens in any case, or else the test fails.
#[track_caller]
pub fn patiently<T>(what: impl Future<Output = T>) -> impl Future<Output = T> {
    let here = Location::caller();
    async move {
        let in_time = tokio::time::timeout(PATIENCE, what).await;
        in_time.unwrap_or_else(|_| panic!("waited in vain at {here}"))
    }
}

/// It took this long by the runtime's clock, to the millisecond by which its timers go.
#[track_caller]
pub fn took(since: tokio::time::Instant, span: Duration) {
    let (took, most) = (since.elapsed(), span + Duration::from_millis(1));
    assert!((span..=most).contains(&took), "{took:?} in place of {span:?}");
}

/// The runtime's clock, which stands still while this is held, though others are waited for. Only on a runtime of one thread.
pub struct Still {
    end: mpsc::Sender<()>,
    task: JoinHandle<()>,
}

/// Stops the runtime's clock. By itself, a clock that is paused leaps to the next timer when the runtime is idle, as it is while
/// Redis decides; while a blocking task runs it does not.
pub fn stand_still() -> Still {
    tokio::time::pause();
    let (end, ended) = mpsc::channel();
    let task = tokio::task::spawn_blocking(move || _ = ended.recv());
    Still { end, task }
}

impl Still {
    /// From here on the clock leaps, unless it is resumed.
    pub async fn end(self) {
        drop(self.end);
        self.task.await.unwrap();
    }
}
