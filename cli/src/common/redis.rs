//! Direct Redis commands, for what the store's API does not offer.

use std::time::Duration;

use tollgate::redis::{AsyncConnectionConfig, Client, RedisError, aio::MultiplexedConnection, cmd};

/// The timeout of calls that an operator waits for, rather than a request.
pub(crate) const OPERATOR_TIMEOUT: Duration = Duration::from_secs(5);

/// The `COUNT` of each `SCAN`.
const SCAN_COUNT: usize = 1000;

pub(crate) async fn connect(client: &Client, timeout: Duration) -> Result<MultiplexedConnection, RedisError> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(timeout))
        .set_response_timeout(Some(timeout));
    client.get_multiplexed_async_connection_with_config(&config).await
}

/// Iterates over the keys with a prefix.
pub(crate) struct Scan {
    pattern: String,
    cursor: Option<u64>,
}

impl Scan {
    pub(crate) fn with_prefix(prefix: &str) -> Self {
        let mut pattern = String::with_capacity(prefix.len() + 1);
        for character in prefix.chars() {
            if matches!(character, '*' | '?' | '[' | ']' | '\\' | '^') {
                pattern.push('\\');
            }
            pattern.push(character);
        }
        pattern.push('*');
        Self {
            pattern,
            cursor: Some(0),
        }
    }

    /// Returns the next keys, or `None` after the last. A key may be returned twice.
    pub(crate) async fn next(&mut self, redis: &mut MultiplexedConnection) -> Result<Option<Vec<Vec<u8>>>, RedisError> {
        let Some(cursor) = self.cursor else { return Ok(None) };
        let mut scan = cmd("SCAN");
        scan.arg(cursor)
            .arg("MATCH")
            .arg(&self.pattern)
            .arg("COUNT")
            .arg(SCAN_COUNT);
        let (next, keys): (u64, Vec<Vec<u8>>) = scan.query_async(redis).await?;
        self.cursor = (next != 0).then_some(next);
        Ok(Some(keys))
    }
}
