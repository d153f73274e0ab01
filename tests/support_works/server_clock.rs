//! The server clock that tests can set.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tollgate::redis::Connection;

use support::{
    redis::{RedisServer, query, time},
    wait::until,
};

const HOUR: Duration = Duration::from_secs(3600);
/// Longer than a test.
const TOLERANCE: Duration = Duration::from_secs(60);

/// Whether the server's clock is ahead of the system clock by this much.
fn is_ahead(redis: &mut Connection, by: Duration) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Duration::from_micros(time(redis)).abs_diff(now + by) < TOLERANCE
}

#[test]
fn the_clock_can_be_set_and_keys_expire_by_it() {
    let (mut server, mut clock) = RedisServer::valkey_with_clock();
    let redis = &mut server.client();
    assert!(is_ahead(redis, Duration::ZERO));
    query::<()>(redis, "SET key value EX 7200");
    clock.set_forward(HOUR);
    assert!(is_ahead(redis, HOUR));
    assert_eq!(query::<u64>(redis, "EXISTS key"), 1);
    clock.set_forward(2 * HOUR);
    assert!(is_ahead(redis, 3 * HOUR));
    assert_eq!(query::<u64>(redis, "EXISTS key"), 0);
    let before = time(redis);
    clock.set_back(HOUR);
    assert!(time(redis) < before);
    clock.set_back(2 * HOUR);
    assert!(is_ahead(redis, Duration::ZERO));

    clock.set_forward(HOUR);
    server.restart();
    assert!(is_ahead(&mut server.client(), HOUR));
}

#[test]
fn the_clock_keeps_running_after_it_is_set() {
    let (server, mut clock) = RedisServer::valkey_with_clock();
    let redis = &mut server.client();
    clock.set_forward(HOUR);
    let before = time(redis);
    until("time has advanced", || time(redis) > before);
}
