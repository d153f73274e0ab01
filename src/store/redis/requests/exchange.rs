//! One call to one node, and what its result means for the connection and the circuit breaker.

use std::sync::Arc;

use deadpool_redis::redis::{Cmd, RedisError, Value};
use tokio::time::Instant;

use super::{batch::Batch, queue::Request, remedy::Remedy, shared::Shared};
use crate::{
    metrics,
    operation::Operation,
    store::redis::{
        error::StoreError,
        servers::{Line, Server, Servers},
        wire::{Reply, call, program},
    },
};

/// Whether a node is asked for keys of a slot that is being migrated to it, after an ASK redirect.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Told {
    Nothing,
    ToAsk,
}

/// A batch that a node rejected as a whole. Nothing was executed, unless the connection failed.
pub(crate) struct Refused {
    pub(crate) line: Line,
    pub(crate) server: Arc<Server>,
    error: RedisError,
}

/// Sends a batch to a node and answers its requests, unless the node rejects the batch as a whole.
pub(crate) async fn ask(
    shared: &Arc<Shared>,
    server: &Arc<Server>,
    asking: Told,
    batch: &mut Batch,
) -> Result<(), Refused> {
    let begun = Instant::now();
    let line = match batch.within(server.line()).await {
        Some(Ok(line)) => line,
        Some(Err(error)) => {
            failed(shared, server, &error);
            batch.fail(&error);
            return Ok(());
        }
        None => {
            if batch.is_silence(begun) {
                failed(shared, server, &batch.late());
            }
            return Ok(());
        }
    };
    if !batch.set_off() {
        return Ok(());
    }
    metrics::batch_size(batch.requests.len());
    let now = shared.named_time.then(|| shared.clock.now());
    let operations = batch.requests.iter().map(|request| &request.operation);
    let command = call::encode(operations, &shared.prefix, now);
    let mut connection = line.connection.clone();
    match batch
        .within(program::run(&command, &mut connection, asking == Told::ToAsk))
        .await
    {
        Some(Ok(reply)) => match answer(shared, server, batch, &reply, &command) {
            Ok(None) => server.breaker.answered(),
            Ok(Some(error)) => learn(shared, server, &line, &error),
            Err(error) => {
                // An invalid reply may belong to another call, so the connection cannot be used any more.
                line.retire();
                batch.fail(&error);
            }
        },
        Some(Err(error)) => {
            batch.turn_back();
            let server = Arc::clone(server);
            return Err(Refused { line, server, error });
        }
        None => {
            // The socket may be half-open, so the connection is replaced. A batch that was sent shortly before its deadline
            // is no evidence of that.
            if batch.is_silence(batch.sent()) {
                line.retire();
                failed(shared, server, &batch.late());
            }
            forget_denials(shared, batch);
        }
    }
    Ok(())
}

impl Refused {
    pub(crate) fn remedy(&self) -> Remedy {
        Remedy::of(&self.error)
    }

    /// Fails the batch with an error that a retry cannot resolve.
    pub(crate) fn fail(self, shared: &Arc<Shared>, batch: &mut Batch) {
        let Self { line, server, error } = self;
        learn(shared, &server, &line, &error);
        forget_denials(shared, batch);
        batch.fail(&StoreError::after_sending(server.address(), error));
    }
}

/// Updates the connection and the circuit breaker after an error reply.
fn learn(shared: &Arc<Shared>, server: &Arc<Server>, line: &Line, error: &RedisError) {
    let remedy = Remedy::of(error);
    let error = StoreError::after_sending(server.address(), error.clone());
    if let Remedy::Replace | Remedy::LogIn = remedy {
        line.retire();
        if !server.breaker.is_news_of(line.made()) {
            return;
        }
    }
    match remedy.is_server_wide() {
        true => failed(shared, server, &error),
        false => {
            server.breaker.answered();
            server.breaker.report(&error);
        }
    }
}

/// Records a failure that other calls to this node would have, too.
fn failed(shared: &Arc<Shared>, server: &Arc<Server>, error: &StoreError) {
    server.breaker.failed(error);
    // Another node may serve its slots by now.
    if let Servers::Cluster(cluster) = &shared.servers {
        cluster.refresh();
    }
}

/// An unanswered refund may have been applied, so cached denials are dropped.
fn forget_denials(shared: &Shared, batch: &Batch) {
    let corrects = |request: &Request| !matches!(request.operation, Operation::Acquire(_));
    if let Some(denied) = &shared.denied
        && batch.requests.iter().any(corrects)
    {
        denied.forget(Instant::now());
    }
}

/// Answers the requests of a batch. Returns the error of a request that failed, preferably one that affects the whole server; a
/// reply that cannot be decoded is an error.
fn answer(
    shared: &Shared,
    server: &Server,
    batch: &mut Batch,
    reply: &Value,
    command: &Cmd,
) -> Result<Option<RedisError>, StoreError> {
    let operations = batch.requests.iter().map(|request| &request.operation);
    let charges = operations.map(|operation| operation.charges().count()).sum();
    let mut reply = Reply::new(reply, charges, command)?;
    let (sent, received) = (batch.sent(), Instant::now());
    let mut failure = None;
    for request in &mut batch.requests {
        let operation = std::mem::replace(&mut request.operation, Operation::nothing());
        let acquires = matches!(operation, Operation::Acquire(_));
        let decided = reply.decision(operation)?;
        match (&shared.denied, &decided) {
            // The verdicts on a part are not the decision about the whole request.
            _ if request.is_part => {}
            (Some(denied), Ok(decision)) if acquires => denied.remember(decision, sent, received),
            (Some(denied), _) if !acquires => denied.forget(received),
            _ => {}
        }
        request.answer(decided.map_err(|error| {
            if failure.is_none() || Remedy::of(&error).is_server_wide() {
                failure = Some(error.clone());
            }
            StoreError::after_sending(server.address(), error)
        }));
    }
    Ok(failure)
}
