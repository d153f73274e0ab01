//! Properties of things that are asked asynchronously.

use std::cell::Cell;

use proptest::{
    prelude::*,
    test_runner::{FileFailurePersistence, TestRunner},
};

/// How many random inputs a property of pure code is tried on: other ones in every run, and more with `PROPTEST_CASES`.
pub fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").map_or(4000, |cases| cases.parse().expect("PROPTEST_CASES is a number"))
}

/// This many random inputs. One that fails is kept in that file, and tried first ever after.
pub fn config(cases: u32, file: &'static str) -> ProptestConfig {
    ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(file))),
        ..ProptestConfig::with_cases(cases)
    }
}

/// Tries a property on random inputs, numbered so that each can have keys of its own.
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
