//! The pending response of a request.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use deadpool_redis::redis::{ErrorKind, RedisError};
use tokio::{runtime::Handle, sync::oneshot};

use crate::store::redis::{batch::Response, error::StoreError};

/// A call that is polled by the task of its own request.
pub(super) type InlineCall = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The pending response of a request, and its call if the task of the request polls that itself.
#[must_use = "futures do nothing unless polled"]
pub(crate) struct PendingResponse {
    /// The address that an error names.
    address: Arc<str>,
    call: Option<InlineCall>,
    response: oneshot::Receiver<Response>,
}

impl PendingResponse {
    pub(super) fn new(address: &Arc<str>, call: Option<InlineCall>, response: oneshot::Receiver<Response>) -> Self {
        let address = Arc::clone(address);
        Self {
            address,
            call,
            response,
        }
    }
}

impl Future for PendingResponse {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Response> {
        if let Some(call) = &mut self.call
            && call.as_mut().poll(context).is_ready()
        {
            self.call = None;
        }
        let response = Pin::new(&mut self.response).poll(context);
        response.map(|response| {
            response.unwrap_or_else(|_| {
                // The request may have been sent.
                let ended = RedisError::from((ErrorKind::Io, "the runtime has ended"));
                Err(StoreError::after_sending(&self.address, ended))
            })
        })
    }
}

/// A call is completed in the background when its request is cancelled: its result shows whether the connection works.
impl Drop for PendingResponse {
    fn drop(&mut self) {
        if let (Some(call), Ok(runtime)) = (self.call.take(), Handle::try_current()) {
            runtime.spawn(call);
        }
    }
}
