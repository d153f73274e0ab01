//! Property tests, synchronous and asynchronous.

use std::cell::Cell;

use proptest::{
    prelude::*,
    test_runner::{FileFailurePersistence, TestRunner},
};

/// The number of random inputs for a property of pure code. `PROPTEST_CASES` overrides it. Every run draws new inputs.
pub fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").map_or(4000, |cases| cases.parse().expect("PROPTEST_CASES is a number"))
}

/// A configuration with this many random inputs. Failing inputs are saved in the file and replayed first in later runs.
pub fn config(cases: u32, file: &'static str) -> ProptestConfig {
    ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(file))),
        ..ProptestConfig::with_cases(cases)
    }
}

/// Checks an asynchronous property on random inputs, numbered so that each can use separate keys.
pub fn holds<S: Strategy>(cases: u32, file: &'static str, input: &S, property: impl AsyncFn(u64, S::Value)) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let number = Cell::new(0);
    let outcome = TestRunner::new(config(cases, file)).run(input, |input| {
        number.set(number.get() + 1);
        runtime.block_on(property(number.get(), input));
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}
