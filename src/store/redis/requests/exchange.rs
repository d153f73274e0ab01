//! One call to one Redis, and what is learnt from how it went.

use std::sync::Arc;

use deadpool_redis::redis::{Cmd, RedisError, Value};
use tokio::time::Instant;

use super::{batch::Batch, queue::Request, remedy::Remedy, shared::Shared};
use crate::{
    measure,
    operation::Operation,
    store::redis::{
        error::StoreError,
        servers::{Line, Server, Servers},
        wire::{Reply, call, program},
    },
};

/// Whether a Redis has keys that are not its own yet, because somebody has referred us to it.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Told {
    Nothing,
    ToAsk,
}

/// A Redis said no to a whole batch. Nothing has been done, unless it is the connection that failed.
pub(crate) struct Refused {
    pub(crate) line: Line,
    pub(crate) server: Arc<Server>,
    error: RedisError,
}

/// Asks a Redis, and answers everybody in the batch, unless all of it was refused.
pub(crate) async fn ask(
    shared: &Arc<Shared>,
    server: &Arc<Server>,
    told: Told,
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
    measure::batch(batch.requests.len());
    let now = shared.named_time.then(|| shared.clock.now());
    let operations = batch.requests.iter().map(|request| &request.operation);
    let command = call::encode(operations, &shared.prefix, now);
    let mut connection = line.connection.clone();
    match batch
        .within(program::run(&command, &mut connection, told == Told::ToAsk))
        .await
    {
        Some(Ok(reply)) => match answer(shared, server, batch, &reply, &command) {
            Ok(None) => server.breaker.answered(),
            Ok(Some(error)) => learn(shared, server, &line, &error),
            Err(error) => {
                // An answer that makes no sense may be another call's: the line is out of step.
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
            // Silence may be a half-open socket, which nothing but a new one heals. A batch that waited for most of its
            // time before it was sent cannot tell.
            if batch.is_silence(batch.sent()) {
                line.retire();
                failed(shared, server, &batch.late());
            }
            forget_refusals(shared, batch);
        }
    }
    Ok(())
}

impl Refused {
    pub(crate) fn remedy(&self) -> Remedy {
        Remedy::of(&self.error)
    }

    /// Nothing more can be done about it.
    pub(crate) fn fail(self, shared: &Arc<Shared>, batch: &mut Batch) {
        let Self { line, server, error } = self;
        learn(shared, &server, &line, &error);
        forget_refusals(shared, batch);
        batch.fail(&StoreError::after_sending(server.address(), error));
    }
}

/// What an error tells about the connection that it came by, and about the Redis at its end.
fn learn(shared: &Arc<Shared>, server: &Arc<Server>, line: &Line, error: &RedisError) {
    let remedy = Remedy::of(error);
    let error = StoreError::after_sending(server.address(), error.clone());
    if let Remedy::Replace | Remedy::LogIn = remedy {
        line.retire();
        if !server.breaker.is_news_of(line.made()) {
            return;
        }
    }
    match remedy.speaks_of_all() {
        true => failed(shared, server, &error),
        false => {
            server.breaker.answered();
            server.breaker.report(&error);
        }
    }
}

/// A call to this Redis has failed, and others would.
fn failed(shared: &Arc<Shared>, server: &Arc<Server>, error: &StoreError) {
    server.breaker.failed(error);
    // Another may have its keys by now.
    if let Servers::Cluster(cluster) = &shared.servers {
        cluster.refresh();
    }
}

/// What a call without an answer may have given back, it may have given back.
fn forget_refusals(shared: &Shared, batch: &Batch) {
    let corrects = |request: &Request| !matches!(request.operation, Operation::Acquire(_));
    if let Some(denied) = &shared.denied
        && batch.requests.iter().any(corrects)
    {
        denied.forget(Instant::now());
    }
}

/// Tells everybody in a batch what came of it, or the error that kept it from going on. Redis may have failed some of
/// them, and why may be news of all.
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
            // What is said of a part is not what will be said of the whole.
            _ if request.is_part => {}
            (Some(denied), Ok(decision)) if acquires => denied.remember(decision, sent, received),
            (Some(denied), _) if !acquires => denied.forget(received),
            _ => {}
        }
        request.answer(decided.map_err(|error| {
            if failure.is_none() || Remedy::of(&error).speaks_of_all() {
                failure = Some(error.clone());
            }
            StoreError::after_sending(server.address(), error)
        }));
    }
    Ok(failure)
}
