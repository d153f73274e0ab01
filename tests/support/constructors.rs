//! Assertions on pairs of constructors: `try_new` returns the error, `new` panics.

use std::{
    any::Any,
    cell::RefCell,
    error::Error,
    fmt::Debug,
    panic::{self, Location, UnwindSafe, catch_unwind},
    sync::Once,
};

use tollgate::ConfigError;

fn message(panic: Box<dyn Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(message) => *message,
        Err(panic) => (*panic.downcast::<&str>().unwrap()).into(),
    }
}

thread_local! {
    /// The file in which this thread last panicked.
    static PANICKED_IN: RefCell<String> = RefCell::default();
}

/// The file and the message of a panic.
fn caught<T: Debug>(panics: impl FnOnce() -> T + UnwindSafe) -> (String, String) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let file = info.location().map_or("", Location::file);
            PANICKED_IN.with(|panicked_in| *panicked_in.borrow_mut() = file.into());
            previous(info);
        }));
    });
    let message = message(catch_unwind(panics).unwrap_err());
    (PANICKED_IN.with(RefCell::take), message)
}

/// Asserts that one constructor returns this error and the other panics with the same message, in the line of its caller.
#[track_caller]
pub fn assert_invalid<T: Debug>(returns: Result<T, ConfigError>, panics: impl FnOnce() -> T + UnwindSafe, text: &str) {
    let error = returns.unwrap_err();
    assert_eq!(error.to_string(), text);
    let (field, rest) = text.split_once(" = ").unwrap();
    let (value, _) = rest.rsplit_once(": it must ").unwrap();
    assert_eq!((error.field(), error.value()), (field, value));
    assert!(error.source().is_none());
    assert_eq!(caught(panics), (Location::caller().file().into(), text.into()));
}

/// Asserts that both constructors return the same value.
#[track_caller]
pub fn assert_valid<T: Debug + PartialEq>(returns: Result<T, ConfigError>, panics: impl FnOnce() -> T) {
    assert_eq!(returns.unwrap(), panics());
}
