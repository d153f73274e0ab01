//! The clock that a test holds in its hand, and the system's.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use tollgate::{Clock, END_OF_TIME, ManualClock, Micros, Sleep};

const fn micros(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

/// Who was woken, in that order.
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
fn a_manual_clock_shows_what_it_is_told() {
    let clock = ManualClock::at(1000);
    let (other, seen) = (clock.clone(), Clock::from(clock.clone()));
    let shows = |now: Micros| assert_eq!([clock.now(), other.now(), seen.now()], [now; 3]);
    shows(1000);
    other.advance(micros(234));
    shows(1234);
    clock.set(500);
    shows(500);
    clock.advance(Duration::ZERO);
    shows(500);
    clock.set(0);
    shows(0);
    assert_eq!(format!("{clock:?}"), "ManualClock(0)");
}

#[test]
fn a_part_of_a_microsecond_counts_as_a_whole_one() {
    for (nanos, counts) in [
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
        if counts > 0 {
            clock.set(counts - 1);
            assert!(!is_ready(&mut sleep), "{span:?}");
        }
        clock.set(0);
        clock.advance(span);
        assert_eq!(clock.now(), counts, "{span:?}");
        assert!(is_ready(&mut sleep), "{span:?}");
    }
}

#[test]
fn time_ends() {
    let clock = ManualClock::at(Micros::MAX);
    assert_eq!(clock.now(), END_OF_TIME);
    clock.set(END_OF_TIME - 1);
    assert_eq!(clock.now(), END_OF_TIME - 1);
    let [mut next, mut never] = [micros(1), Duration::MAX].map(|span| sleep(&clock, span));
    assert!(!is_ready(&mut next) && !is_ready(&mut never));
    clock.advance(Duration::MAX);
    assert_eq!(clock.now(), END_OF_TIME);
    // Nothing is later than that, so whoever waits for more waits no longer.
    assert!(is_ready(&mut next) && is_ready(&mut never));
    assert!(is_ready(&mut sleep(&clock, Duration::MAX)));
    clock.set(END_OF_TIME + 1);
    assert_eq!(clock.now(), END_OF_TIME);
}

#[test]
fn a_sleep_of_zero_is_ready() {
    let clock = ManualClock::at(1000);
    assert!(is_ready(&mut sleep(&clock, Duration::ZERO)));
    assert_eq!(clock.waiting(), 0);
}

#[test]
fn a_sleep_is_pending_until_its_time_comes() {
    let (clock, log) = (ManualClock::at(1000), Log::default());
    let mut sleep = sleep(&clock, micros(10));
    assert_eq!(clock.waiting(), 0, "nobody has asked it yet");
    assert!(poll(&mut sleep, &log.waker("sleeper")).is_pending());
    clock.advance(micros(9));
    assert!(log.take().is_empty() && clock.waiting() == 1);
    assert!(poll(&mut sleep, &log.waker("sleeper")).is_pending());
    clock.set(5);
    assert!(log.take().is_empty() && clock.waiting() == 1);
    clock.set(1010);
    assert_eq!((log.take(), clock.waiting()), (vec!["sleeper"], 0));
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
fn the_latest_waker_is_the_one_that_is_woken() {
    let (clock, log) = (ManualClock::at(0), Log::default());
    let mut sleep = sleep(&clock, micros(10));
    for name in ["before", "after"] {
        assert!(poll(&mut sleep, &log.waker(name)).is_pending());
        assert_eq!(clock.waiting(), 1);
    }
    clock.advance(micros(10));
    assert_eq!(log.take(), ["after"]);
}

#[test]
fn a_sleep_that_is_dropped_leaves_nothing_waiting() {
    let (clock, log) = (ManualClock::at(0), Log::default());
    let mut sleeps: Vec<_> = (0..3).map(|_| sleep(&clock, micros(10))).collect();
    for (sleep, name) in sleeps.iter_mut().zip(["a", "b", "c"]) {
        assert!(poll(sleep, &log.waker(name)).is_pending());
    }
    assert_eq!(clock.waiting(), 3);
    drop(sleeps.remove(1));
    assert_eq!(clock.waiting(), 2);
    clock.advance(micros(10));
    assert_eq!(log.take(), ["a", "c"]);
    drop(sleeps);
    assert_eq!(clock.waiting(), 0);
}

#[tokio::test]
async fn a_task_sleeps_on_a_manual_clock() {
    let clock = ManualClock::at(0);
    let task = tokio::spawn(Clock::from(clock.clone()).sleep(Duration::from_secs(3600)));
    tokio::task::yield_now().await;
    assert_eq!(clock.waiting(), 1);
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
    // From 2020 until the end: neither milliseconds nor nanoseconds would fall in between.
    let possible = 1_577_836_800_000_000..END_OF_TIME;
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

/// A waker that owns a wait on the same clock, as a task does that waits for several things.
struct Owner(#[allow(dead_code, reason = "it only has to be dropped")] Mutex<Option<Sleep>>);

impl Wake for Owner {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn a_waker_that_owns_a_wait_is_dropped_without_a_deadlock() {
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
    assert_eq!(clock.waiting(), 0);
}
