//! Something that one task does for all who wait for it.

use std::{
    future::Future,
    sync::{Mutex, PoisonError},
};

use deadpool_redis::redis::{ErrorKind, RedisError};
use tokio::sync::watch;

/// An errand that is run when somebody needs it. Its task outlives whoever began it, who may give up before it is done;
/// but not its runtime, and then whoever comes next begins anew.
#[derive(Default)]
pub(crate) struct Errand(Mutex<Option<watch::Receiver<Done>>>);

type Done = Option<Result<(), RedisError>>;

/// What comes of an errand.
pub(crate) struct Outcome(watch::Receiver<Done>);

impl Errand {
    /// Joins those who wait for it, or sends for it.
    pub(crate) fn join(&self, work: impl Future<Output = Result<(), RedisError>> + Send + 'static) -> Outcome {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(done) = &*running
            && done.has_changed().is_ok()
        {
            return Outcome(done.clone());
        }
        let (sender, done) = watch::channel(None);
        *running = Some(done.clone());
        tokio::spawn(async move { sender.send_replace(Some(work.await)) });
        Outcome(done)
    }
}

impl Outcome {
    pub(crate) async fn wait(mut self) -> Result<(), RedisError> {
        let done = self.0.wait_for(Option::is_some).await;
        let done = done.ok().and_then(|done| done.clone());
        let ended = || RedisError::from((ErrorKind::Io, "the runtime that was connecting has ended"));
        done.unwrap_or_else(|| Err(ended()))
    }
}
