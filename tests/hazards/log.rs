//! What the store has said in the log, Redis by Redis.

pub(crate) use support::log::listen;
use support::{log, redis::RedisServer};

/// What was said of this Redis since the last look: how loudly, and how it begins.
pub(crate) fn of(server: &RedisServer) -> Vec<String> {
    let address = format!("127.0.0.1:{}", server.port());
    let ours = log::take(|line| line.field("address") == address);
    let begins = |message: &str| message.split([',', ';']).next().unwrap().to_owned();
    ours.iter()
        .map(|line| format!("{}: {}", line.level, begins(line.field("message"))))
        .collect()
}
