//! Assertions on pairs of constructors: `try_new` returns the error, `new` panics.

use std::{
    any::Any,
    error::Error,
    fmt::Debug,
    panic::{UnwindSafe, catch_unwind},
};

use tollgate::ConfigError;

fn message(panic: Box<dyn Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(message) => *message,
        Err(panic) => (*panic.downcast::<&str>().unwrap()).into(),
    }
}

/// Asserts that one constructor returns this error and the other panics with the same message.
#[track_caller]
pub fn assert_invalid<T: Debug>(returns: Result<T, ConfigError>, panics: impl FnOnce() -> T + UnwindSafe, text: &str) {
    let error = returns.unwrap_err();
    assert_eq!(error.to_string(), text);
    let (field, rest) = text.split_once(" = ").unwrap();
    let (value, _) = rest.rsplit_once(": it must ").unwrap();
    assert_eq!((error.field(), error.value()), (field, value));
    assert!(error.source().is_none());
    assert_eq!(message(catch_unwind(panics).unwrap_err()), text);
}

/// Asserts that both constructors return the same value.
#[track_caller]
pub fn assert_valid<T: Debug + PartialEq>(returns: Result<T, ConfigError>, panics: impl FnOnce() -> T) {
    assert_eq!(returns.unwrap(), panics());
}
