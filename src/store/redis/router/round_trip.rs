//! One call to one node, and what its result means for the connection and the circuit breaker.

use std::sync::Arc;

use deadpool_redis::redis::RedisError;
use tokio::time::Instant;

use super::{node::Node, topology::Topology};
use crate::{
    metrics,
    store::redis::{
        batcher::Batch,
        connection::ConnectionHandle,
        error::StoreError,
        protocol::{CallEncoder, ErrorAction, script},
    },
};

/// Whether a node is asked for keys of a slot that is being migrated to it, after an ASK redirect.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Asking {
    No,
    Yes,
}

/// A call to a node.
pub(super) struct RoundTrip<'a> {
    pub(super) topology: &'a Topology,
    pub(super) node: &'a Arc<Node>,
    pub(super) encoder: &'a CallEncoder,
}

/// A batch that a node rejected as a whole. Nothing was executed, unless the connection failed.
pub(super) struct RejectedBatch {
    pub(super) connection: ConnectionHandle,
    error: RedisError,
}

impl RejectedBatch {
    pub(super) fn action(&self) -> ErrorAction {
        ErrorAction::of(&self.error)
    }
}

impl RoundTrip<'_> {
    /// Sends a batch to the node and answers its requests, unless the node rejects the batch as a whole.
    pub(super) async fn execute(&self, asking: Asking, batch: &mut Batch) -> Result<(), RejectedBatch> {
        let started = Instant::now();
        let connection = match batch.run_until_deadline(self.node.connection()).await {
            Some(Ok(connection)) => connection,
            Some(Err(error)) => {
                self.record_failure(&error);
                batch.fail(&error);
                return Ok(());
            }
            None => {
                if batch.is_unresponsive(started) {
                    self.record_failure(&batch.timeout_error());
                }
                return Ok(());
            }
        };
        if !batch.mark_sent() {
            return Ok(());
        }
        metrics::batch_size(batch.len());
        let command = self.encoder.encode(batch.operations());
        let mut multiplexed = connection.connection.clone();
        let call = script::run(&command, &mut multiplexed, asking == Asking::Yes);
        match batch.run_until_deadline(call).await {
            Some(Ok(reply)) => match batch.answer(&reply, &command, self.node.address()) {
                Ok(None) => self.node.breaker.on_success(),
                Ok(Some(error)) => self.record_error(&connection, &error),
                Err(error) => {
                    // An invalid reply may belong to another call, so the connection cannot be used any more.
                    connection.invalidate();
                    batch.fail(&error);
                }
            },
            Some(Err(error)) => {
                batch.mark_unsent();
                return Err(RejectedBatch { connection, error });
            }
            None => {
                // The socket may be half-open, so the connection is replaced. A batch that was sent shortly before its deadline
                // is no evidence of that.
                if batch.is_unresponsive(batch.sent_at()) {
                    connection.invalidate();
                    self.record_failure(&batch.timeout_error());
                }
                batch.forget_denials();
            }
        }
        Ok(())
    }

    /// Fails a batch whose rejection a retry cannot resolve.
    pub(super) fn fail(&self, rejected: RejectedBatch, batch: &mut Batch) {
        let RejectedBatch { connection, error } = rejected;
        self.record_error(&connection, &error);
        batch.forget_denials();
        batch.fail(&StoreError::after_sending(self.node.address(), error));
    }

    /// Updates the connection and the circuit breaker after an error reply.
    fn record_error(&self, connection: &ConnectionHandle, error: &RedisError) {
        let action = ErrorAction::of(error);
        let error = StoreError::after_sending(self.node.address(), error.clone());
        let breaker = &self.node.breaker;
        if let ErrorAction::Reconnect | ErrorAction::Reauthenticate = action {
            connection.invalidate();
            if !breaker.is_new_outage(connection.connected_at()) {
                return;
            }
        }
        match action.is_server_wide() {
            true => self.record_failure(&error),
            false => {
                breaker.on_success();
                breaker.log_failure(&error);
            }
        }
    }

    /// Records a failure that other calls to this node would have, too.
    fn record_failure(&self, error: &StoreError) {
        self.node.breaker.on_failure(error);
        // Another node may serve its slots by now.
        self.topology.refresh();
    }
}
