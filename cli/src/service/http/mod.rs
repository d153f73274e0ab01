//! The HTTP API: `/check` for proxies, and `/healthz` for their health checks.

mod body;
mod check;
mod error;
mod original_request;
mod untrusted;

use std::{sync::Arc, time::Duration};

use http::{Method, Request, request::Parts};
use hyper::body::Incoming;
use tokio::sync::watch;

use self::{check::Check, error::CheckError};
use super::metrics::{Api, ServiceMetrics};
use crate::server::{self, Server, connection::UnreadBody, response::ServerResponse, store::ServerStore};

#[derive(Clone)]
pub(crate) struct HttpService(Arc<Inner>);

struct Inner {
    check: Check,
    store: ServerStore,
    metrics: ServiceMetrics,
    client_timeout: Duration,
    shutdown: watch::Receiver<bool>,
}

impl HttpService {
    pub(crate) fn new(server: &Server, client_timeout: Duration, metrics: ServiceMetrics) -> Self {
        Self(Arc::new(Inner {
            check: Check::new(&server.store, server.rules.clone(), metrics.clone()),
            store: server.store.clone(),
            metrics,
            client_timeout,
            shutdown: server.shutdown(),
        }))
    }

    pub(crate) async fn call(self, request: Request<Incoming>) -> ServerResponse {
        let (head, body) = request.into_parts();
        let unread: Option<UnreadBody> = head.extensions.get().cloned();
        let expects_continue = body::expects_continue(&head.headers);
        let response = self.respond(head).await;
        // A body after `Expect` is not sent unless it is read: the response makes it unnecessary.
        if !expects_continue {
            body::drain(body, unread, self.0.client_timeout).await;
        }
        response
    }

    async fn respond(&self, head: Parts) -> ServerResponse {
        let inner = &*self.0;
        let result = match head.uri.path() {
            "/check" => inner.check.call(head).await,
            "/healthz" if matches!(head.method, Method::GET | Method::HEAD) => {
                return server::health(&inner.store, &inner.shutdown).await;
            }
            "/healthz" => Err(CheckError::MethodNotAllowed("GET, HEAD")),
            _ => Err(CheckError::NotFound),
        };
        result.unwrap_or_else(|error| {
            inner.metrics.record_error(Api::Http, error.name());
            error.into_response()
        })
    }
}
