//! Those who watch a primary and its replicas, and know which of them is the primary now.

use std::time::Duration;

use deadpool_redis::redis::{self, ErrorKind, FromRedisValue, RedisError, Value};

use super::super::{directory, terms::Terms};

pub(crate) struct Sentinels {
    /// What the sentinels call the primary.
    pub(crate) name: String,
    /// How to get to each of them.
    pub(crate) terms: Vec<Terms>,
}

impl Sentinels {
    /// Where the primary is now, as the first of them says who knows.
    pub(super) async fn primary(&self, patience: Duration) -> Result<(String, u16), RedisError> {
        let mut question = redis::cmd("SENTINEL");
        question.arg("get-master-addr-by-name").arg(&self.name);
        directory::ask(self.terms.iter().cloned(), &question, patience, understand).await
    }
}

fn understand(_: &Terms, answer: Value) -> Result<(String, u16), RedisError> {
    let known = Option::<(String, u16)>::from_redis_value(answer)?;
    known.ok_or_else(|| {
        let unknown = "the sentinels watch no primary of this name";
        RedisError::from((ErrorKind::MasterNameNotFoundBySentinel, unknown))
    })
}
