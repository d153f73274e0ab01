//! A clock that is set while its server runs.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tollgate::redis::Connection;

use support::{
    patience::until,
    redis::{RedisServer, ask, time},
};

const HOUR: Duration = Duration::from_secs(3600);
/// Longer than a test takes.
const MOMENT: Duration = Duration::from_secs(60);

/// Whether the clock shows the time of this machine, or so much more.
fn is_ahead(redis: &mut Connection, by: Duration) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Duration::from_micros(time(redis)).abs_diff(now + by) < MOMENT
}

#[test]
fn it_goes_back_and_forth_and_keys_expire_by_it() {
    let (mut server, mut clock) = RedisServer::valkey_with_clock();
    let redis = &mut server.client();
    assert!(is_ahead(redis, Duration::ZERO));
    ask::<()>(redis, "SET key value EX 7200");
    clock.set_forward(HOUR);
    assert!(is_ahead(redis, HOUR));
    assert_eq!(ask::<u64>(redis, "EXISTS key"), 1);
    clock.set_forward(2 * HOUR);
    assert!(is_ahead(redis, 3 * HOUR));
    assert_eq!(ask::<u64>(redis, "EXISTS key"), 0);
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
fn it_goes_on_by_itself() {
    let (server, mut clock) = RedisServer::valkey_with_clock();
    let redis = &mut server.client();
    clock.set_forward(HOUR);
    let before = time(redis);
    until("it has gone on", || time(redis) > before);
}
