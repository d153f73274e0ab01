//! The manual clock and the system clock.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use tollgate::{Clock, MAX_TIMESTAMP, ManualClock, Micros, Sleep};

const fn micros(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

/// The names of the woken wakers, in order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<&'static str>>>);

struct Sleeper(&'static str, Log);

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.1.0.lock().unwrap().push(self.0);
    }
}

impl Log {
    fn waker(&self, name: &'static str) -> Waker {
        Arc::new(Sleeper(name, self.clone())).into()
    }

    fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

fn sleep(clock: &ManualClock, span: Duration) -> Pin<Box<Sleep>> {
    Box::pin(Clock::from(clock.clone()).sleep(span))
}

fn poll(sleep: &mut Pin<Box<Sleep>>, waker: &Waker) -> Poll<()> {
    sleep.as_mut().poll(&mut Context::from_waker(waker))
}

fn is_ready(sleep: &mut Pin<Box<Sleep>>) -> bool {
    poll(sleep, Waker::noop()).is_ready()
}

#[test]
fn a_manual_clock_returns_the_time_that_was_set() {
    let clock = ManualClock::at(1000);
    let (other, converted) = (clock.clone(), Clock::from(clock.clone()));
    let assert_now = |now: Micros| assert_eq!([clock.now(), other.now(), converted.now()], [now; 3]);
    assert_now(1000);
    other.advance(micros(234));
    assert_now(1234);
    clock.set(500);
    assert_now(500);
    clock.advance(Duration::ZERO);
    assert_now(500);
    clock.set(0);
    assert_now(0);
    assert_eq!(format!("{clock:?}"), "ManualClock(0)");
}

#[test]
fn durations_are_rounded_up_to_microseconds() {
    for (nanos, micros) in [
        (0, 0),
        (1, 1),
        (999, 1),
        (1000, 1),
        (1001, 2),
        (1_000_000_001, 1_000_001),
    ] {
        let span = Duration::from_nanos(nanos);
        let clock = ManualClock::at(0);
        let mut sleep = sleep(&clock, span);
        if micros > 0 {
            clock.set(micros - 1);
            assert!(!is_ready(&mut sleep), "{span:?}");
        }
        clock.set(0);
        clock.advance(span);
        assert_eq!(clock.now(), micros, "{span:?}");
        assert!(is_ready(&mut sleep), "{span:?}");
    }
}

#[test]
fn time_is_clamped_to_the_largest_timestamp() {
    let clock = ManualClock::at(Micros::MAX);
    assert_eq!(clock.now(), MAX_TIMESTAMP);
    clock.set(MAX_TIMESTAMP - 1);
    assert_eq!(clock.now(), MAX_TIMESTAMP - 1);
    let [mut next, mut never] = [micros(1), Duration::MAX].map(|span| sleep(&clock, span));
    assert!(!is_ready(&mut next) && !is_ready(&mut never));
    clock.advance(Duration::MAX);
    assert_eq!(clock.now(), MAX_TIMESTAMP);
    // No time is later, so sleeps beyond it are ready.
    assert!(is_ready(&mut next) && is_ready(&mut never));
    assert!(is_ready(&mut sleep(&clock, Duration::MAX)));
    clock.set(MAX_TIMESTAMP + 1);
    assert_eq!(clock.now(), MAX_TIMESTAMP);
}

#[test]
fn a_sleep_of_zero_is_ready() {
    let clock = ManualClock::at(1000);
    assert!(is_ready(&mut sleep(&clock, Duration::ZERO)));
    assert_eq!(clock.pending_sleeps(), 0);
}

#[test]
fn a_sleep_is_pending_until_its_time() {
    let (clock, log) = (ManualClock::at(1000), Log::default());
    let mut sleep = sleep(&clock, micros(10));
    assert_eq!(clock.pending_sleeps(), 0, "the sleep has not been polled");
    assert!(poll(&mut sleep, &log.waker("sleeper")).is_pending());
    clock.advance(micros(9));
    assert!(log.take().is_empty() && clock.pending_sleeps() == 1);
    assert!(poll(&mut sleep, &log.waker("sleeper")).is_pending());
    clock.set(5);
    assert!(log.take().is_empty() && clock.pending_sleeps() == 1);
    clock.set(1010);
    assert_eq!((log.take(), clock.pending_sleeps()), (vec!["sleeper"], 0));
    assert!(poll(&mut sleep, &log.waker("sleeper")).is_ready());
    clock.advance(micros(10));
    assert!(log.take().is_empty());
}

#[test]
fn sleepers_wake_in_the_order_of_their_times() {
    let (clock, log) = (ManualClock::at(0), Log::default());
    let spans = [
        ("third", 30),
        ("first", 10),
        ("last", 41),
        ("second", 20),
        ("fourth", 30),
    ];
    let mut sleeps = spans.map(|(name, span)| (name, sleep(&clock, micros(span))));
    for (name, sleep) in &mut sleeps {
        assert!(poll(sleep, &log.waker(name)).is_pending());
    }
    clock.advance(micros(40));
    assert_eq!(log.take(), ["first", "second", "third", "fourth"]);
    assert_eq!(
        sleeps.map(|(_, mut sleep)| is_ready(&mut sleep)),
        [true, true, false, true, true]
    );
}

#[test]
fn only_the_latest_waker_is_woken() {
    let (clock, log) = (ManualClock::at(0), Log::default());
    let mut sleep = sleep(&clock, micros(10));
    for name in ["before", "after"] {
        assert!(poll(&mut sleep, &log.waker(name)).is_pending());
        assert_eq!(clock.pending_sleeps(), 1);
    }
    clock.advance(micros(10));
    assert_eq!(log.take(), ["after"]);
}

#[test]
fn a_dropped_sleep_is_removed() {
    let (clock, log) = (ManualClock::at(0), Log::default());
    let mut sleeps: Vec<_> = (0..3).map(|_| sleep(&clock, micros(10))).collect();
    for (sleep, name) in sleeps.iter_mut().zip(["a", "b", "c"]) {
        assert!(poll(sleep, &log.waker(name)).is_pending());
    }
    assert_eq!(clock.pending_sleeps(), 3);
    drop(sleeps.remove(1));
    assert_eq!(clock.pending_sleeps(), 2);
    clock.advance(micros(10));
    assert_eq!(log.take(), ["a", "c"]);
    drop(sleeps);
    assert_eq!(clock.pending_sleeps(), 0);
}

#[tokio::test]
async fn a_task_sleeps_on_a_manual_clock() {
    let clock = ManualClock::at(0);
    let task = tokio::spawn(Clock::from(clock.clone()).sleep(Duration::from_secs(3600)));
    tokio::task::yield_now().await;
    assert_eq!(clock.pending_sleeps(), 1);
    clock.advance(Duration::from_secs(3600));
    tokio::task::yield_now().await;
    assert!(task.is_finished());
}

#[tokio::test(start_paused = true)]
async fn the_system_clock_sleeps_on_the_runtime() {
    let start = tokio::time::Instant::now();
    let mut sleep = Box::pin(Clock::system().sleep(Duration::from_secs(3600)));
    assert!(!is_ready(&mut sleep));
    sleep.await;
    assert_eq!(start.elapsed(), Duration::from_secs(3600));
    Clock::default().sleep(Duration::ZERO).await;
    assert_eq!(start.elapsed(), Duration::from_secs(3600));
}

#[test]
fn the_system_clock_counts_microseconds() {
    // From 2020 to the largest timestamp: milliseconds or nanoseconds would be out of this range.
    let possible = 1_577_836_800_000_000..MAX_TIMESTAMP;
    assert!(possible.contains(&Clock::system().now()));
    assert!(possible.contains(&Clock::default().now()));
}

#[test]
fn time_advanced_by_many_threads_adds_up() {
    let clock = ManualClock::at(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..10_000).for_each(|_| clock.advance(micros(1))));
        }
    });
    assert_eq!(clock.now(), 40_000);
}

/// A waker that owns a sleep on the same clock, as the waker of a task with several sleeps does.
struct Owner(#[allow(dead_code, reason = "kept only for its drop")] Mutex<Option<Sleep>>);

impl Wake for Owner {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn dropping_a_waker_that_owns_a_sleep_does_not_deadlock() {
    let clock = ManualClock::at(0);
    let owner = || {
        Waker::from(Arc::new(Owner(Mutex::new(Some(
            Clock::from(clock.clone()).sleep(micros(5)),
        )))))
    };
    let mut replaced = sleep(&clock, micros(10));
    assert!(poll(&mut replaced, &owner()).is_pending());
    assert!(poll(&mut replaced, &owner()).is_pending());
    drop(replaced);
    assert_eq!(clock.pending_sleeps(), 0);
}
