//! Sends what waits, batch after batch, for as long as there is something to send.
//!
//! As many tasks do this as there are lanes, so that Redis finds the next batch when it is done with one. A task that
//! finds nothing to send ends, and the next request starts another: no task outlives its work, so a store outlives any
//! runtime that it is used on.

use std::{future::Future, pin::Pin, sync::Arc};

use deadpool_redis::redis::{Cmd, ErrorKind, RedisError, Value};
use tokio::time::Instant;

use super::{
    Shared,
    batch::Batch,
    call,
    error::StoreError,
    program,
    queue::{Request, Turn},
    reply::Reply,
};
use crate::operation::Operation;

/// A call that whoever asked sees to.
pub(super) type Led = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Sees to it that a request is sent, by a task or by whoever asked.
pub(super) fn submit(shared: &Arc<Shared>, request: Request) -> Option<Led> {
    match shared.queue.push(request, shared.lanes.count()) {
        Turn::Lead(request) => return Some(Box::pin(lead(Leader(Arc::clone(shared)), *request))),
        Turn::Send => {
            let sender = Sender {
                shared: Arc::clone(shared),
                done: false,
            };
            tokio::spawn(sender.run());
        }
        Turn::Wait => {}
    }
    None
}

async fn lead(leader: Leader, request: Request) {
    let shared = &*leader.0;
    let batch = Batch::new(vec![request], shared.lanes.address(), shared.deadline);
    send(shared, batch).await;
}

struct Leader(Arc<Shared>);

/// However it ends, the next one may lead.
impl Drop for Leader {
    fn drop(&mut self) {
        self.0.queue.followed();
    }
}

struct Sender {
    shared: Arc<Shared>,
    done: bool,
}

impl Sender {
    async fn run(mut self) {
        let shared = &*self.shared;
        while let Some(requests) = shared.queue.take() {
            let batch = Batch::new(requests, shared.lanes.address(), shared.deadline);
            send(shared, batch).await;
            // Whoever has just been answered may ask again: together they leave in fewer and larger batches.
            tokio::task::yield_now().await;
        }
        self.done = true;
    }
}

/// A runtime that ends takes its tasks with it, wherever they are.
impl Drop for Sender {
    fn drop(&mut self) {
        if !self.done {
            let ended = RedisError::from((ErrorKind::Io, "the runtime has ended"));
            let ended = StoreError::before_sending(self.shared.lanes.address(), ended);
            for mut request in self.shared.queue.abandon() {
                request.answer(Err(ended.clone()));
            }
        }
    }
}

/// Sends a batch, and answers everybody in it. What may have been sent is never sent again.
pub(super) async fn send(shared: &Shared, mut batch: Batch) {
    let line = match batch.within(shared.lanes.line()).await {
        Some(Ok(line)) => line,
        Some(Err(error)) => return batch.fail(&error),
        None => return,
    };
    if !batch.set_off() {
        return;
    }
    let now = shared.named_time.then(|| shared.clock.now());
    let operations = batch.requests.iter().map(|request| &request.operation);
    let command = call::encode(operations, &shared.prefix, now);
    let mut connection = line.connection.clone();
    match batch.within(program::run(&command, &mut connection)).await {
        Some(Ok(reply)) => {
            // An answer that makes no sense may be another call's: the line is out of step.
            let understood = answer(shared, &mut batch, reply, &command);
            if understood.inspect_err(|error| batch.fail(error)).is_err() {
                line.retire();
            }
        }
        // Redis looks at the keys before it does anything: whoever may be let in alone has not been charged yet.
        Some(Err(error)) if error.code() == Some("NOPERM") && batch.requests.len() > 1 => {
            for alone in batch.split() {
                Box::pin(send(shared, alone)).await;
            }
        }
        Some(Err(error)) => {
            if is_lost(&error) {
                line.retire();
            }
            forget_refusals(shared, &batch);
            batch.fail(&StoreError::after_sending(shared.lanes.address(), error));
        }
        None => {
            // Silence may be a half-open socket, which nothing but a new one heals.
            if batch.met_silence() {
                line.retire();
            }
            forget_refusals(shared, &batch);
        }
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

/// Tells everybody in a batch what came of it, or the error that kept it from going on.
fn answer(shared: &Shared, batch: &mut Batch, reply: Value, command: &Cmd) -> Result<(), StoreError> {
    let operations = batch.requests.iter().map(|request| &request.operation);
    let charges = operations.map(|operation| operation.charges().count()).sum();
    let mut reply = Reply::new(&reply, charges, command)?;
    let (sent, received) = (batch.sent(), Instant::now());
    for request in &mut batch.requests {
        let operation = std::mem::replace(&mut request.operation, Operation::nothing());
        let acquires = matches!(operation, Operation::Acquire(_));
        let decided = reply.decision(operation)?;
        match (&shared.denied, &decided) {
            (Some(denied), Ok(decision)) if acquires => denied.remember(decision, sent, received),
            (Some(denied), _) if !acquires => denied.forget(received),
            _ => {}
        }
        request.answer(decided.map_err(|error| StoreError::after_sending(shared.lanes.address(), error)));
    }
    Ok(())
}

/// Whether the connection is at fault, or leads to a Redis that is not, or not yet, the one to ask.
fn is_lost(error: &RedisError) -> bool {
    let elsewhere = matches!(error.code(), Some("READONLY" | "MASTERDOWN" | "LOADING"));
    error.is_io_error() || error.is_unrecoverable_error() || elsewhere
}
