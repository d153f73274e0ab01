//! Discovery of the current primary through sentinels.

use std::time::Duration;

use deadpool_redis::redis::{self, ErrorKind, FromRedisValue, RedisError, Value};

use super::super::{directory, terms::Terms};

pub(crate) struct Sentinels {
    /// The name of the primary in the configuration of the sentinels.
    pub(crate) name: String,
    /// The connection settings of each sentinel.
    pub(crate) terms: Vec<Terms>,
}

impl Sentinels {
    /// The address of the primary, from the first sentinel that reports one.
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
