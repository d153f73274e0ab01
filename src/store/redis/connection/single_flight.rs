//! Single flight: one task does the work for all callers that wait for it.

use std::{
    future::Future,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use deadpool_redis::redis::{ErrorKind, RedisError};
use tokio::{sync::watch, time::Instant};

/// Work that takes longer may be on a runtime that is not running: another task starts it again.
const MAX_WORK_TIME: Duration = Duration::from_secs(10);

/// Work that at most one task does at a time. The task continues if the caller that started it is cancelled, but not after its
/// runtime has ended; then the next caller starts another task.
#[derive(Default)]
pub(crate) struct SingleFlight(Mutex<Option<Running>>);

struct Running {
    since: Instant,
    done: watch::Receiver<Done>,
}

type Done = Option<Result<(), RedisError>>;

/// The pending result of the work.
pub(crate) struct Flight(watch::Receiver<Done>);

impl SingleFlight {
    /// Joins the running task, or starts one.
    pub(crate) fn join(&self, work: impl Future<Output = Result<(), RedisError>> + Send + 'static) -> Flight {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Running { since, done }) = &*running
            && done.has_changed().is_ok()
            && since.elapsed() < MAX_WORK_TIME
        {
            return Flight(done.clone());
        }
        let (sender, done) = watch::channel(None);
        *running = Some(Running {
            since: Instant::now(),
            done: done.clone(),
        });
        tokio::spawn(async move { sender.send_replace(Some(work.await)) });
        Flight(done)
    }
}

impl Flight {
    pub(crate) async fn wait(mut self) -> Result<(), RedisError> {
        let done = self.0.wait_for(Option::is_some).await;
        let done = done.ok().and_then(|done| done.clone());
        let ended = || RedisError::from((ErrorKind::Io, "the runtime has ended"));
        done.unwrap_or_else(|| Err(ended()))
    }
}

#[cfg(test)]
mod tests;
