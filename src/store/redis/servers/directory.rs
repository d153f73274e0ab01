//! Discovery: asks sentinels or cluster nodes for the addresses of nodes.
//!
//! All are asked in parallel, and the first answer is used: in sequence, an unreachable one would delay the others.

use std::time::Duration;

use deadpool_redis::redis::{Cmd, ErrorKind, RedisError, Value};
use tokio::{task::JoinSet, time::timeout};

use super::terms::Terms;

/// The first valid answer, or the last error if there is none.
pub(crate) async fn ask<T: Send + 'static>(
    targets: impl IntoIterator<Item = Terms>,
    question: &Cmd,
    patience: Duration,
    understand: fn(&Terms, Value) -> Result<T, RedisError>,
) -> Result<T, RedisError> {
    let mut asked = JoinSet::new();
    for terms in targets {
        let question = question.clone();
        asked.spawn(async move {
            let answer = terms.connect().await?.send_packed_command(&question).await;
            understand(&terms, answer?.extract_error()?)
        });
    }
    let first = async {
        let mut failure = RedisError::from((ErrorKind::Io, "there is no sentinel or node to ask"));
        while let Some(answer) = asked.join_next().await {
            match answer {
                Ok(Ok(understood)) => return Ok(understood),
                Ok(Err(error)) => failure = error,
                Err(_) => failure = RedisError::from((ErrorKind::Io, "the runtime has ended")),
            }
        }
        Err(failure)
    };
    let late = || RedisError::from((ErrorKind::Io, "no sentinel or node answered in time"));
    timeout(patience, first).await.unwrap_or_else(|_| Err(late()))
}
