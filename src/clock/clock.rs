//! The clock of a store, and its sleep future.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use pin_project_lite::pin_project;

use super::{
    manual::{ManualClock, ManualSleep},
    system,
};
use crate::time::{MAX_TIMESTAMP, Micros};

/// A clock: the current time, and sleeping.
///
/// The default is the system clock. In tests, convert a [`ManualClock`] into one.
///
/// ```
/// use std::time::Duration;
/// use tollgate::{Clock, ManualClock};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let manual = ManualClock::at(0);
/// let clock = Clock::from(manual.clone());
/// let sleep = clock.sleep(Duration::from_secs(60));
/// manual.advance(Duration::from_secs(60));
/// sleep.await; // ready at once
/// assert_eq!(clock.now(), 60_000_000);
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Clock(Source);

#[derive(Clone, Debug, Default)]
enum Source {
    #[default]
    System,
    Manual(ManualClock),
}

impl Clock {
    /// The system clock, in UTC.
    pub const fn system() -> Self {
        Self(Source::System)
    }

    /// The current time, in microseconds since the Unix epoch.
    #[inline]
    pub fn now(&self) -> Micros {
        match &self.0 {
            Source::System => system::now().min(MAX_TIMESTAMP),
            Source::Manual(clock) => clock.now(),
        }
    }

    /// A future that is ready when `duration` has elapsed on this clock.
    ///
    /// # Panics
    /// On the system clock, outside of a tokio runtime with its timer enabled.
    pub fn sleep(&self, duration: Duration) -> Sleep {
        let kind = match &self.0 {
            Source::System => SleepKind::System {
                timer: tokio::time::sleep(duration),
            },
            Source::Manual(clock) => SleepKind::Manual {
                sleep: clock.sleep(duration),
            },
        };
        Sleep { kind }
    }
}

impl From<ManualClock> for Clock {
    fn from(clock: ManualClock) -> Self {
        Self(Source::Manual(clock))
    }
}

pin_project! {
    /// The future of [`Clock::sleep`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Sleep {
        #[pin]
        kind: SleepKind,
    }
}

pin_project! {
    #[project = SleepKindProjection]
    #[derive(Debug)]
    enum SleepKind {
        System { #[pin] timer: tokio::time::Sleep },
        Manual { sleep: ManualSleep },
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match self.project().kind.project() {
            SleepKindProjection::System { timer } => timer.poll(context),
            SleepKindProjection::Manual { sleep } => sleep.poll(context),
        }
    }
}
