//! Clocks: the system's, and a manual one for tests.
//!
//! ```
//! use std::time::Duration;
//! use tollgate::{ManualClock, MemoryStore};
//!
//! let clock = ManualClock::at(0);
//! let store = MemoryStore::builder().clock(clock.clone()).build();
//! clock.advance(Duration::from_secs(60)); // without sleeping
//! # let _ = store;
//! ```

mod clock;
mod manual;
mod system;

pub use self::{
    clock::{Clock, Sleep},
    manual::ManualClock,
};
