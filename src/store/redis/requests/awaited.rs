//! The pending response of a request.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use deadpool_redis::redis::{ErrorKind, RedisError};
use tokio::{runtime::Handle, sync::oneshot};

use super::{queue::Answer, shared::Shared};
use crate::store::redis::error::StoreError;

/// A call that is polled by the task of its own request.
pub(crate) type Led = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The pending response of a request, and its call if the task of the request polls that itself.
#[must_use = "futures do nothing unless polled"]
pub(crate) struct Awaited {
    shared: Arc<Shared>,
    led: Option<Led>,
    answer: oneshot::Receiver<Answer>,
}

impl Awaited {
    pub(crate) fn new(shared: &Arc<Shared>, led: Option<Led>, answer: oneshot::Receiver<Answer>) -> Self {
        let shared = Arc::clone(shared);
        Self { shared, led, answer }
    }
}

impl Future for Awaited {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        if let Some(led) = &mut self.led
            && led.as_mut().poll(context).is_ready()
        {
            self.led = None;
        }
        let answer = Pin::new(&mut self.answer).poll(context);
        answer.map(|answer| {
            answer.unwrap_or_else(|_| {
                let ended = RedisError::from((ErrorKind::Io, "the runtime has ended"));
                Err(StoreError::after_sending(self.shared.servers.address(), ended))
            })
        })
    }
}

/// A call is completed in the background when its request is cancelled: its result shows whether the connection works.
impl Drop for Awaited {
    fn drop(&mut self) {
        if let (Some(led), Ok(runtime)) = (self.led.take(), Handle::try_current()) {
            runtime.spawn(led);
        }
    }
}
