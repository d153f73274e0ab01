//! Without the feature `metrics`: nobody is told anything.
#![expect(clippy::unused_self, reason = "it stands in for what has something to tell")]

use std::time::Duration;

use super::{By, Fate, Said};

pub(crate) fn describe() {}

pub(crate) fn request(_: Fate, _: By) {}

pub(crate) fn memory_keys(_: usize, _: usize) {}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LimitMeasures;

impl LimitMeasures {
    pub(crate) fn new(_: &str) -> Self {
        Self
    }

    pub(crate) fn decided(&self, _: Said) {}

    pub(crate) fn refused_as_shadow(&self) {}

    pub(crate) fn held(&self, _: Duration) {}

    #[cfg(feature = "redis")]
    pub(crate) fn repeated(&self) {}
}

#[cfg(feature = "redis")]
pub(crate) use self::redis::{Stopwatch, batch, breaker};

#[cfg(feature = "redis")]
mod redis {
    use crate::measure::Wait;

    pub(crate) struct Stopwatch;

    impl Stopwatch {
        pub(crate) fn start() -> Self {
            Self
        }

        pub(crate) fn stop(self, _: Option<Wait>) {}
    }

    pub(crate) fn batch(_: usize) {}

    pub(crate) fn breaker(_: &str, _: isize) {}
}
