//! Whose time it is: the system's, or one that a test holds in its hand.
//!
//! ```
//! use std::time::Duration;
//! use tollgate::{ManualClock, MemoryStore};
//!
//! let clock = ManualClock::at(0);
//! let store = MemoryStore::builder().clock(clock.clone()).build();
//! clock.advance(Duration::from_secs(60)); // a minute goes by in no time
//! # let _ = store;
//! ```

mod clock;
mod manual;
mod system;

pub use self::{
    clock::{Clock, Sleep},
    manual::ManualClock,
};
