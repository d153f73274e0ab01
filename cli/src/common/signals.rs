//! How a program is asked to end: by Ctrl-C, and on Unix by whoever ends programs, or by the terminal that goes away.

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

#[cfg(unix)]
pub(crate) struct Signals([(SignalKind, Signal); 3]);

#[cfg(unix)]
impl Signals {
    /// From now on they do not end the program by themselves.
    pub(crate) fn listen() -> Self {
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        Self(kinds.map(|kind| (kind, signal(kind).expect("signals can be heard"))))
    }

    /// Waits for one of them, and says what to exit with then.
    pub(crate) async fn any(self) -> i32 {
        let [mut interrupt, mut terminate, mut hangup] = self.0;
        let kind = tokio::select! {
            _ = interrupt.1.recv() => interrupt.0,
            _ = terminate.1.recv() => terminate.0,
            _ = hangup.1.recv() => hangup.0,
        };
        128 + kind.as_raw_value()
    }
}

#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn listen() -> Self {
        Self
    }

    pub(crate) async fn any(self) -> i32 {
        tokio::signal::ctrl_c().await.expect("signals can be heard");
        1
    }
}
