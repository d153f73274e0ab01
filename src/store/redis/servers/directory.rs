//! Asking those who know where a Redis is: sentinels, or the nodes of a cluster.
//!
//! All are asked at once and the first answer counts: whoever asks one after another waits for the one that is gone.

use std::time::Duration;

use deadpool_redis::redis::{Cmd, ErrorKind, RedisError, Value};
use tokio::{task::JoinSet, time::timeout};

use super::terms::Terms;

/// The first answer that can be understood, and otherwise why there is none.
pub(crate) async fn ask<T: Send + 'static>(
    who: impl IntoIterator<Item = Terms>,
    question: &Cmd,
    patience: Duration,
    understand: fn(&Terms, Value) -> Result<T, RedisError>,
) -> Result<T, RedisError> {
    let mut asked = JoinSet::new();
    for terms in who {
        let question = question.clone();
        asked.spawn(async move {
            let answer = terms.connect().await?.send_packed_command(&question).await;
            understand(&terms, answer?.extract_error()?)
        });
    }
    let first = async {
        let mut failure = RedisError::from((ErrorKind::Io, "there is nobody to ask"));
        while let Some(answer) = asked.join_next().await {
            match answer {
                Ok(Ok(understood)) => return Ok(understood),
                Ok(Err(error)) => failure = error,
                Err(_) => failure = RedisError::from((ErrorKind::Io, "the runtime has ended")),
            }
        }
        Err(failure)
    };
    let late = || RedisError::from((ErrorKind::Io, "nobody who was asked has answered"));
    timeout(patience, first).await.unwrap_or_else(|_| Err(late()))
}
