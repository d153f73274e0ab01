//! Discovery of addresses: the query that asks sentinels for the primary, and nodes of a cluster for the slot map.

use std::time::Duration;

use deadpool_redis::redis::{Cmd, ErrorKind, RedisError, Value};
use tokio::{task::JoinSet, time::timeout};

use super::config::ConnectionConfig;

/// Asks sentinels or nodes for addresses. All are asked in parallel, and the first valid answer is used, or the last error:
/// in sequence, an unreachable one would delay the others.
pub(crate) async fn query_first<T: Send + 'static>(
    targets: impl IntoIterator<Item = ConnectionConfig>,
    query: &Cmd,
    query_timeout: Duration,
    parse: fn(&ConnectionConfig, Value) -> Result<T, RedisError>,
) -> Result<T, RedisError> {
    let mut queries = JoinSet::new();
    for config in targets {
        let query = query.clone();
        queries.spawn(async move {
            let answer = config.connect().await?.send_packed_command(&query).await;
            parse(&config, answer?.extract_error()?)
        });
    }
    let first = async {
        let mut failure = RedisError::from((ErrorKind::Io, "there is no sentinel or node to ask"));
        while let Some(answer) = queries.join_next().await {
            match answer {
                Ok(Ok(parsed)) => return Ok(parsed),
                Ok(Err(error)) => failure = error,
                Err(_) => failure = RedisError::from((ErrorKind::Io, "the runtime has ended")),
            }
        }
        Err(failure)
    };
    let late = || RedisError::from((ErrorKind::Io, "no sentinel or node answered in time"));
    timeout(query_timeout, first).await.unwrap_or_else(|_| Err(late()))
}
