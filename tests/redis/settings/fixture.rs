//! A charge, and all that is shown of settings.

use std::error::Error;

use tollgate::{Charge, FixedWindow, Key, Limit, Operation, Quota, RedisStoreBuilder};

pub(crate) fn acquire() -> Operation {
    let limit = Limit::new("name", FixedWindow::new(Quota::per_day(10)).anchored());
    Operation::Acquire(Charge::new(limit, Key::new("key")).into())
}

/// All that a failure, or whoever prints the settings, could show.
pub(crate) fn shown(builder: &RedisStoreBuilder) -> String {
    match builder.clone().build() {
        Ok(store) => format!("{builder:?} {store:?}"),
        Err(error) => format!(
            "{builder:?} {error} {error:?} {:?}",
            error.source().map(<dyn Error>::to_string)
        ),
    }
}
