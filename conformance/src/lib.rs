//! Tests for [stores](tollgate::Store) of your own.
//!
//! [`check`] runs all of them on stores that you provide, and panics with the step and the verdicts if a store decides differently
//! from the pure functions of tollgate's algorithms.
//!
//! ```
//! use tollgate::{ManualClock, MemoryStore};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! // For each case an empty store, which uses the clock of the case.
//! let fresh = |clock: ManualClock| MemoryStore::builder().clock(clock).build();
//! tollgate_conformance::check(&fresh).await;
//! # }
//! ```
//!
//! | function | what it checks |
//! | --- | --- |
//! | [`vectors`] | cases that were worked out by hand: every algorithm, refunds and settlements, several tiers |
//! | [`traces`] | random sequences of all operations on random tiers: every verdict equals that of the pure functions |
//! | [`all_or_none`] | a denied request changes the state of no tier, and has no receipt |
//! | [`clock_goes_back`] | a clock that goes back frees nothing |
//! | [`concurrency`] | requests of several threads never exceed a limit, and are charged to all of their tiers or to none |

mod atomicity;
mod model;
mod traces;
mod vectors;

use tollgate::{Decision, ManualClock, Micros, Operation, Store};

pub use self::{
    atomicity::{all_or_none, clock_goes_back, concurrency},
    traces::traces,
    vectors::vectors,
};

/// 15.25 seconds into a minute, so that few results are round numbers.
const START: Micros = 1_700_000_055_250_000;

/// Runs all tests. `fresh` returns an empty store on a clock: for each case other keys, or another database.
pub async fn check<St: Store>(fresh: &impl Fn(ManualClock) -> St) {
    vectors(fresh).await;
    traces(fresh, 300).await;
    all_or_none(fresh).await;
    clock_goes_back(fresh).await;
    concurrency(fresh).await;
}

/// Applies an operation to a store that must not fail.
async fn apply<St: Store>(store: &St, operation: Operation) -> Decision {
    match store.apply(operation).await {
        Ok(decision) => decision,
        Err(error) => panic!("the store failed: {}", error.into()),
    }
}
