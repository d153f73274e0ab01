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
mod tests {
    use deadpool_redis::redis::{ErrorKind, parse_redis_value};

    use super::*;

    fn action(message: &str) -> ErrorAction {
        let reply = parse_redis_value(format!("-{message}\r\n").as_bytes()).unwrap();
        ErrorAction::of(&reply.extract_error().unwrap_err())
    }

    #[test]
    fn errors_are_classified_by_their_code() {
        for (message, expected) in [
            (
                "READONLY You can't write against a read only replica.",
                ErrorAction::Reconnect,
            ),
            ("MASTERDOWN Link with MASTER is down", ErrorAction::Reconnect),
            ("LOADING Redis is loading the dataset in memory", ErrorAction::Reconnect),
            ("NOAUTH Authentication required.", ErrorAction::Reauthenticate),
            ("BUSY Redis is busy running a script.", ErrorAction::FailFast),
            ("CLUSTERDOWN Hash slot not served", ErrorAction::FailFast),
            ("MOVED 3999 127.0.0.1:6381", ErrorAction::Moved("127.0.0.1:6381".into())),
            ("MOVED 3999 :6381", ErrorAction::Moved(":6381".into())),
            ("MOVED elsewhere", ErrorAction::FailFast),
            ("ASK 3999 ::1:6381", ErrorAction::Ask("::1:6381".into())),
            (
                "TRYAGAIN Multiple keys request during rehashing of slot",
                ErrorAction::TryAgain,
            ),
            ("NOPERM this user has no permissions", ErrorAction::Split),
            (
                "OOM command not allowed when used memory > 'maxmemory'.",
                ErrorAction::Fail,
            ),
            ("MISCONF Redis is configured to save RDB snapshots", ErrorAction::Fail),
            ("NOREPLICAS Not enough good replicas to write.", ErrorAction::Fail),
            (
                "CROSSSLOT Keys in request don't hash to the same slot",
                ErrorAction::Fail,
            ),
            ("ERR user_script:1: tollgate: no algorithm x", ErrorAction::Fail),
        ] {
            assert_eq!(action(message), expected, "{message}");
        }
        let lost = RedisError::from((ErrorKind::Io, "broken pipe"));
        assert_eq!(ErrorAction::of(&lost), ErrorAction::Reconnect);
    }
}
