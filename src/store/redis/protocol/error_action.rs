//! Classifies errors of Redis by the action that they require.

use deadpool_redis::redis::RedisError;

#[derive(Debug, PartialEq)]
pub(crate) enum ErrorAction {
    /// Reconnect: the connection failed, or its node is not a primary that serves calls.
    Reconnect,
    /// Reconnect, and send this call again: Redis did not execute it, since the connection is not authenticated.
    Reauthenticate,
    /// Fail fast: the condition is temporary, and other calls would fail until it ends.
    FailFast,
    /// Another node serves the slot.
    Moved(String),
    /// The slot is being migrated, and its keys may be on this node.
    Ask(String),
    /// Some keys of the call are being migrated: send it again later.
    TryAgain,
    /// The user may access only some keys of the call: send its requests one by one.
    Split,
    /// Fail this call: the error affects no other call, or the client cannot resolve it.
    Fail,
}

impl ErrorAction {
    pub(crate) fn of(error: &RedisError) -> Self {
        let to = || error.redirect_node().map(|(address, _)| address.to_owned());
        match error.code().unwrap_or_default() {
            // A demoted primary rejects writes; a node that is loading was restarted.
            "READONLY" | "MASTERDOWN" | "LOADING" => Self::Reconnect,
            "NOAUTH" => Self::Reauthenticate,
            "BUSY" | "CLUSTERDOWN" => Self::FailFast,
            "MOVED" => to().map_or(Self::FailFast, Self::Moved),
            "ASK" => to().map_or(Self::FailFast, Self::Ask),
            "TRYAGAIN" => Self::TryAgain,
            "NOPERM" => Self::Split,
            // With OOM, MISCONF and NOREPLICAS, Redis still answers calls that write nothing.
            _ if error.is_io_error() || error.is_unrecoverable_error() => Self::Reconnect,
            _ => Self::Fail,
        }
    }

    /// Whether other calls would fail, too, so that the error counts as a failure for the circuit breaker.
    pub(crate) fn is_server_wide(&self) -> bool {
        match self {
            Self::Reconnect | Self::Reauthenticate | Self::FailFast => true,
            Self::Moved(_) | Self::Ask(_) | Self::TryAgain | Self::Split | Self::Fail => false,
        }
    }
}

#[cfg(test)]
mod tests;
