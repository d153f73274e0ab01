//! Waiting for what is bound to happen, without knowing when.

use std::{
    thread,
    time::{Duration, Instant},
};

/// So long that only what never happens takes it, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);

/// Looks again and again until it is so. Between two looks others get a turn: there may be a dozen of them.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    until_some(what, || is_so().then_some(()));
}

/// The same, until there is something to show for it.
pub fn until_some<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "waited in vain until {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// The same, where looking means asking somebody, and others of this runtime go on meanwhile.
pub async fn eventually(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so().await {
        assert!(Instant::now() < end, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
