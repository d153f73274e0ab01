//! Classifies errors of Redis by the action that they require.

use deadpool_redis::redis::RedisError;

#[derive(Debug, PartialEq)]
pub(crate) enum Remedy {
    /// Reconnect: the connection failed, or its node is not a primary that serves calls.
    Replace,
    /// Reconnect, and send this call again: Redis did not execute it, since the connection is not authenticated.
    LogIn,
    /// Fail fast: the condition is temporary, and other calls would fail until it ends.
    Wait,
    /// Another node serves the slot.
    Moved(String),
    /// The slot is being migrated, and its keys may be on this node.
    Ask(String),
    /// Some keys of the call are being migrated: send it again later.
    TryAgain,
    /// The user may access only some keys of the call: send its requests one by one.
    Split,
    /// Fail this call: the error affects no other call, or the client cannot resolve it.
    Nothing,
}

impl Remedy {
    pub(crate) fn of(error: &RedisError) -> Self {
        let to = || error.redirect_node().map(|(address, _)| address.to_owned());
        match error.code().unwrap_or_default() {
            // A demoted primary rejects writes; a node that is loading was restarted.
            "READONLY" | "MASTERDOWN" | "LOADING" => Self::Replace,
            "NOAUTH" => Self::LogIn,
            "BUSY" | "CLUSTERDOWN" => Self::Wait,
            "MOVED" => to().map_or(Self::Wait, Self::Moved),
            "ASK" => to().map_or(Self::Wait, Self::Ask),
            "TRYAGAIN" => Self::TryAgain,
            "NOPERM" => Self::Split,
            // With OOM, MISCONF and NOREPLICAS, Redis still answers calls that write nothing.
            _ if error.is_io_error() || error.is_unrecoverable_error() => Self::Replace,
            _ => Self::Nothing,
        }
    }

    /// Whether other calls would fail, too, so that the error counts as a failure for the circuit breaker.
    pub(crate) fn is_server_wide(&self) -> bool {
        match self {
            Self::Replace | Self::LogIn | Self::Wait => true,
            Self::Moved(_) | Self::Ask(_) | Self::TryAgain | Self::Split | Self::Nothing => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use deadpool_redis::redis::{ErrorKind, parse_redis_value};

    use super::*;

    fn remedy(message: &str) -> Remedy {
        let reply = parse_redis_value(format!("-{message}\r\n").as_bytes()).unwrap();
        Remedy::of(&reply.extract_error().unwrap_err())
    }

    #[test]
    fn errors_are_classified_by_their_code() {
        for (message, expected) in [
            ("READONLY You can't write against a read only replica.", Remedy::Replace),
            ("MASTERDOWN Link with MASTER is down", Remedy::Replace),
            ("LOADING Redis is loading the dataset in memory", Remedy::Replace),
            ("NOAUTH Authentication required.", Remedy::LogIn),
            ("BUSY Redis is busy running a script.", Remedy::Wait),
            ("CLUSTERDOWN Hash slot not served", Remedy::Wait),
            ("MOVED 3999 127.0.0.1:6381", Remedy::Moved("127.0.0.1:6381".into())),
            ("MOVED 3999 :6381", Remedy::Moved(":6381".into())),
            ("MOVED elsewhere", Remedy::Wait),
            ("ASK 3999 ::1:6381", Remedy::Ask("::1:6381".into())),
            (
                "TRYAGAIN Multiple keys request during rehashing of slot",
                Remedy::TryAgain,
            ),
            ("NOPERM this user has no permissions", Remedy::Split),
            (
                "OOM command not allowed when used memory > 'maxmemory'.",
                Remedy::Nothing,
            ),
            ("MISCONF Redis is configured to save RDB snapshots", Remedy::Nothing),
            ("NOREPLICAS Not enough good replicas to write.", Remedy::Nothing),
            ("CROSSSLOT Keys in request don't hash to the same slot", Remedy::Nothing),
            ("ERR user_script:1: tollgate: no algorithm x", Remedy::Nothing),
        ] {
            assert_eq!(remedy(message), expected, "{message}");
        }
        let lost = RedisError::from((ErrorKind::Io, "broken pipe"));
        assert_eq!(Remedy::of(&lost), Remedy::Replace);
    }
}
