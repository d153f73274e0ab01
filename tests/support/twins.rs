//! Where a value can be wrong there are two who take it: one returns the error, the other panics.

use std::{
    any::Any,
    error::Error,
    fmt::Debug,
    panic::{UnwindSafe, catch_unwind},
};

use tollgate::Invalid;

fn words(panic: Box<dyn Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(words) => *words,
        Err(panic) => (*panic.downcast::<&str>().unwrap()).into(),
    }
}

/// Both twins refuse: the one returns the error, the other panics with its words.
#[track_caller]
pub fn refused<T: Debug>(returns: Result<T, Invalid>, panics: impl FnOnce() -> T + UnwindSafe, text: &str) {
    let error = returns.unwrap_err();
    assert_eq!(error.to_string(), text);
    let (field, rest) = text.split_once(" = ").unwrap();
    let (value, _) = rest.rsplit_once(": it must ").unwrap();
    assert_eq!((error.field(), error.value()), (field, value));
    assert!(error.source().is_none());
    assert_eq!(words(catch_unwind(panics).unwrap_err()), text);
}

/// Both twins accept, and agree.
#[track_caller]
pub fn accepted<T: Debug + PartialEq>(returns: Result<T, Invalid>, panics: impl FnOnce() -> T) {
    assert_eq!(returns.unwrap(), panics());
}
