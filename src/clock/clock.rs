//! The time, and a wait for it, on either clock.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use pin_project_lite::pin_project;

use super::{
    manual::{Alarm, ManualClock},
    system,
};
use crate::time::{END_OF_TIME, Micros};

/// Tells the time and waits for it.
///
/// The default is the system's clock. A [`ManualClock`] turns into one where a test wants to say what time it is.
///
/// ```
/// use std::time::Duration;
/// use tollgate::{Clock, ManualClock};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let hand = ManualClock::at(0);
/// let clock = Clock::from(hand.clone());
/// let sleep = clock.sleep(Duration::from_secs(60));
/// hand.advance(Duration::from_secs(60));
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
    /// The system's clock, in UTC.
    pub const fn system() -> Self {
        Self(Source::System)
    }

    /// The time, in microseconds since the Unix epoch.
    pub fn now(&self) -> Micros {
        match &self.0 {
            Source::System => system::now().min(END_OF_TIME),
            Source::Manual(clock) => clock.now(),
        }
    }

    /// A future that is ready once `span` has gone by on this clock.
    ///
    /// # Panics
    /// On the system's clock, outside of a tokio runtime with its timer enabled.
    pub fn sleep(&self, span: Duration) -> Sleep {
        let wait = match &self.0 {
            Source::System => Wait::System {
                timer: tokio::time::sleep(span),
            },
            Source::Manual(clock) => Wait::Manual {
                alarm: clock.alarm(span),
            },
        };
        Sleep { wait }
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
        wait: Wait,
    }
}

pin_project! {
    #[project = WaitProjection]
    #[derive(Debug)]
    enum Wait {
        System { #[pin] timer: tokio::time::Sleep },
        Manual { alarm: Alarm },
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match self.project().wait.project() {
            WaitProjection::System { timer } => timer.poll(context),
            WaitProjection::Manual { alarm } => alarm.poll(context),
        }
    }
}
