//! A Redis asked directly, for what the store has no words for.

use std::time::Duration;

use tollgate::redis::{AsyncConnectionConfig, Client, RedisError, aio::MultiplexedConnection, cmd};

/// How long Redis may take where an operator waits for the answer, and no request.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(5);

/// How many keys Redis looks at in one call.
const SCANNED: usize = 1000;

pub(crate) async fn connect(client: &Client, timeout: Duration) -> Result<MultiplexedConnection, RedisError> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(timeout))
        .set_response_timeout(Some(timeout));
    client.get_multiplexed_async_connection_with_config(&config).await
}

/// Keys that begin with some text, a few at a time.
pub(crate) struct Scan {
    pattern: String,
    cursor: Option<u64>,
}

impl Scan {
    pub(crate) fn beginning_with(text: &str) -> Self {
        let mut pattern = String::with_capacity(text.len() + 1);
        for letter in text.chars() {
            if matches!(letter, '*' | '?' | '[' | ']' | '\\' | '^') {
                pattern.push('\\');
            }
            pattern.push(letter);
        }
        pattern.push('*');
        Self {
            pattern,
            cursor: Some(0),
        }
    }

    /// Some more of them, or nothing when all have been returned. One may be returned twice.
    pub(crate) async fn next(&mut self, redis: &mut MultiplexedConnection) -> Result<Option<Vec<Vec<u8>>>, RedisError> {
        let Some(cursor) = self.cursor else { return Ok(None) };
        let mut scan = cmd("SCAN");
        scan.arg(cursor)
            .arg("MATCH")
            .arg(&self.pattern)
            .arg("COUNT")
            .arg(SCANNED);
        let (next, keys): (u64, Vec<Vec<u8>>) = scan.query_async(redis).await?;
        self.cursor = (next != 0).then_some(next);
        Ok(Some(keys))
    }
}
