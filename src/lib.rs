//! Exact rate limits for tower services: five algorithms as data and pure functions.

pub mod algorithm;
mod clock;
mod invalid;
mod quota;
mod time;
mod verdict;

pub use self::{
    algorithm::{Algorithm, FixedWindow, LeakyBucket, Rule, SlidingCounter, SlidingLog, State, TokenBucket},
    clock::{Clock, ManualClock, Sleep},
    invalid::Invalid,
    quota::{Cost, Quota},
    time::{END_OF_TIME, Micros},
    verdict::{Outcome, Verdict},
};
