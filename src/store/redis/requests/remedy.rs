//! What an error of Redis's calls for.

use deadpool_redis::redis::RedisError;

#[derive(Debug, PartialEq)]
pub(crate) enum Remedy {
    /// The connection is at fault, or leads to a Redis that is not, or not yet, the one to ask.
    Replace,
    /// The same, but a new connection may make a difference to this very call: it was turned away at the door.
    LogIn,
    /// It will pass, and others would hear the same until then.
    Wait,
    /// These keys are somewhere else, and stay there.
    Moved(String),
    /// These keys may be somewhere else for now.
    Ask(String),
    /// Some of these keys are on their way.
    TryAgain,
    /// Some of these keys may not be touched, and others may be.
    Split,
    /// None: it is about this call alone, or nothing can be done from here.
    Nothing,
}

impl Remedy {
    pub(crate) fn of(error: &RedisError) -> Self {
        let to = || error.redirect_node().map(|(address, _)| address.to_owned());
        match error.code().unwrap_or_default() {
            // A primary that was demoted answers, but not what it is asked; one that is loading was restarted.
            "READONLY" | "MASTERDOWN" | "LOADING" => Self::Replace,
            "NOAUTH" => Self::LogIn,
            "BUSY" | "CLUSTERDOWN" => Self::Wait,
            "MOVED" => to().map_or(Self::Wait, Self::Moved),
            "ASK" => to().map_or(Self::Wait, Self::Ask),
            "TRYAGAIN" => Self::TryAgain,
            "NOPERM" => Self::Split,
            // Without memory (OOM, MISCONF, NOREPLICAS) Redis still answers whoever needs nothing written.
            _ if error.is_io_error() || error.is_unrecoverable_error() => Self::Replace,
            _ => Self::Nothing,
        }
    }

    /// Whether others would fare no better, so that Redis need not be asked for a while.
    pub(crate) fn speaks_of_all(&self) -> bool {
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

    /// As Redis says it.
    fn remedy(said: &str) -> Remedy {
        let reply = parse_redis_value(format!("-{said}\r\n").as_bytes()).unwrap();
        Remedy::of(&reply.extract_error().unwrap_err())
    }

    #[test]
    fn each_error_is_taken_for_what_it_is() {
        for (said, expected) in [
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
            assert_eq!(remedy(said), expected, "{said}");
        }
        let lost = RedisError::from((ErrorKind::Io, "broken pipe"));
        assert_eq!(Remedy::of(&lost), Remedy::Replace);
    }
}
