//! Tests of `error_action`.

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
