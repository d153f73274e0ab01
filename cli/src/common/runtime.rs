//! Tokio runtimes, and the signals that end a process.

use std::io;

use tokio::runtime::{Builder, Runtime};
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The runtime of servers: a worker thread per core.
pub(crate) fn multi_thread() -> io::Result<Runtime> {
    Builder::new_multi_thread().enable_all().build()
}

/// The runtime of subcommands that make a few sequential calls.
pub(crate) fn current_thread() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// Signals that ask a process to end: Ctrl-C, and on Unix SIGTERM and SIGHUP.
#[cfg(unix)]
pub(crate) struct Signals([(SignalKind, Signal); 3]);

#[cfg(unix)]
impl Signals {
    /// Installs handlers, which disables the default action of the signals.
    pub(crate) fn install() -> Self {
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        Self(kinds.map(|kind| (kind, signal(kind).expect("signal handlers can be installed"))))
    }

    /// Waits for the first signal and returns the exit code for it.
    pub(crate) async fn recv(self) -> i32 {
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
    pub(crate) fn install() -> Self {
        Self
    }

    pub(crate) async fn recv(self) -> i32 {
        tokio::signal::ctrl_c().await.expect("signal handlers can be installed");
        1
    }
}
