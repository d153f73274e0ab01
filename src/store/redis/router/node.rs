//! A node: a standalone Redis, the primary that sentinels report, or a node of a cluster; and the call of a batch to it.

use std::{
    pin::pin,
    sync::{Arc, Weak},
};

use deadpool_redis::redis::RedisError;
use tokio::time::{Instant, timeout};

use crate::{
    metrics,
    store::redis::{
        batch::Batch,
        circuit_breaker::{CircuitBreaker, Probe},
        connection::{ConnectionHandle, ConnectionPool, Connector},
        error::StoreError,
        protocol::{CallEncoder, ErrorAction, script},
    },
};

pub(crate) struct Node {
    pool: ConnectionPool,
    pub(crate) breaker: Arc<CircuitBreaker>,
}

/// Whether a node is asked for keys of a slot that is being migrated to it, after an ASK redirect.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Asking {
    No,
    Yes,
}

/// How a call ended.
pub(super) enum CallEnd {
    /// The requests got their responses, or none of them waits any more.
    Completed,
    /// The node cannot be reached or does not reply, and the requests failed.
    Unavailable,
    /// Redis replied with an error, or the connection failed. The requests still wait.
    Failed(CallError),
}

/// The error of a call as a whole. The node has executed nothing, unless the connection failed.
pub(super) struct CallError {
    connection: ConnectionHandle,
    error: RedisError,
}

impl CallError {
    pub(super) fn action(&self) -> ErrorAction {
        ErrorAction::of(&self.error)
    }

    pub(super) fn invalidate_connection(&self) {
        self.connection.invalidate();
    }
}

impl Node {
    pub(crate) fn new(
        address: &str,
        connector: Connector,
        pool_size: usize,
        probe: impl FnOnce(Weak<Self>) -> Probe,
    ) -> Arc<Self> {
        Arc::new_cyclic(|node| Self {
            pool: ConnectionPool::new(connector, pool_size),
            breaker: CircuitBreaker::new(address, probe(Weak::clone(node))),
        })
    }

    pub(crate) fn address(&self) -> &Arc<str> {
        self.breaker.address()
    }

    pub(crate) async fn connection(&self) -> Result<ConnectionHandle, StoreError> {
        let connection = self.pool.get().await;
        connection.map_err(|error| StoreError::before_sending(self.address(), error))
    }

    /// Sends a batch, and responds to its requests unless the call fails as a whole. The circuit breaker is not consulted, but
    /// learns the result, except that of a redirected call, which says nothing about the node.
    pub(super) async fn call(&self, encoder: &CallEncoder, asking: Asking, batch: &mut Batch) -> CallEnd {
        let started = Instant::now();
        let connection = match batch.run_until_deadline(self.connection()).await {
            Some(Ok(connection)) => connection,
            Some(Err(error)) => {
                self.breaker.on_failure(&error);
                batch.fail(&error);
                return CallEnd::Unavailable;
            }
            None if batch.is_unresponsive(started) => {
                self.breaker.on_failure(&batch.timeout_error());
                return CallEnd::Unavailable;
            }
            None => return CallEnd::Completed,
        };
        if !batch.mark_sent() {
            return CallEnd::Completed;
        }
        metrics::batch_size(batch.len());
        let command = encoder.encode(batch.parts());
        let mut multiplexed = connection.connection.clone();
        let mut call = pin!(script::run(&command, &mut multiplexed, asking == Asking::Yes));
        let mut result = batch.run_until_deadline(call.as_mut()).await;
        if result.is_none() {
            batch.clear_denials_after_refund();
            if batch.is_unresponsive(batch.sent_at()) && !connection.has_replied_since(batch.sent_at()) {
                return self.record_silence(&connection, batch);
            }
            // No request waits any more, but the time of a late reply shows how much work Redis can do.
            result = timeout(batch.timeout(), call).await.ok();
        }
        if result.is_some() {
            connection.on_reply();
        }
        match result {
            Some(Ok((reply, sent))) => match batch.complete(&reply, sent.elapsed(), &command, self.address()) {
                Ok(None) => self.breaker.on_success(),
                Ok(Some(error)) => return self.record_error(&connection, &error),
                Err(error) => {
                    // An invalid reply may belong to another call, so the connection cannot be used any more. Refunds may have been
                    // applied.
                    connection.invalidate();
                    batch.clear_denials();
                    batch.fail(&error);
                }
            },
            Some(Err(error)) => {
                batch.mark_unsent();
                return CallEnd::Failed(CallError { connection, error });
            }
            None if !connection.has_replied_since(batch.sent_at()) => return self.record_silence(&connection, batch),
            None => {}
        }
        CallEnd::Completed
    }

    /// Fails a batch after an error that sending it again cannot resolve.
    pub(super) fn fail(&self, call: CallError, batch: &mut Batch) -> CallEnd {
        let CallError { connection, error } = call;
        let end = self.record_error(&connection, &error);
        batch.clear_denials_after_refund();
        batch.fail(&StoreError::after_sending(self.address(), error));
        end
    }

    /// Replaces a connection without replies, whose socket may be half-open. While Redis replies to earlier calls, it cannot keep up,
    /// and its connections work.
    fn record_silence(&self, connection: &ConnectionHandle, batch: &Batch) -> CallEnd {
        connection.invalidate();
        self.breaker.on_failure(&batch.timeout_error());
        if self.breaker.open().is_some() {
            // The others may be half-open, too: each would fail a probe, or a call after it.
            self.pool.invalidate_silent(batch.sent_at());
        }
        CallEnd::Unavailable
    }

    /// Updates the connection and the circuit breaker after an error reply.
    fn record_error(&self, connection: &ConnectionHandle, error: &RedisError) -> CallEnd {
        let action = ErrorAction::of(error);
        let error = StoreError::after_sending(self.address(), error.clone());
        if let ErrorAction::Reconnect | ErrorAction::Reauthenticate = action {
            connection.invalidate();
            if !self.breaker.is_new_outage(connection.connected_at()) {
                return CallEnd::Completed;
            }
        }
        match action.is_server_wide() {
            true => {
                self.breaker.on_failure(&error);
                CallEnd::Unavailable
            }
            false => {
                self.breaker.on_error_reply(&error);
                CallEnd::Completed
            }
        }
    }
}
