//! A charge, and the text that settings are printed as.

use std::error::Error;

use tollgate::{Charge, FixedWindow, Key, Limit, Operation, Quota, RedisStoreBuilder};

pub(crate) fn acquire() -> Operation {
    let limit = Limit::new("name", FixedWindow::new(Quota::per_day(10)).anchored());
    Operation::Acquire(Charge::new(limit, Key::new("key")).into())
}

/// All text in which the settings could appear: Debug output and errors.
pub(crate) fn shown(builder: &RedisStoreBuilder) -> String {
    match builder.clone().build() {
        Ok(store) => format!("{builder:?} {store:?}"),
        Err(error) => format!(
            "{builder:?} {error} {error:?} {:?}",
            error.source().map(<dyn Error>::to_string)
        ),
    }
}
