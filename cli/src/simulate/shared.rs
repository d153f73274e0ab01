//! A Redis that others use too: all that is written there is under a prefix of its own, and deleted however the run ends.

use std::{
    process::exit,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use tokio::runtime::Runtime;
use tollgate::{
    Decision, ManualClock, Micros, Operation, RedisStore, Store, StoreError,
    redis::{Client, RedisError, cmd},
};

use crate::common::{
    failure::Failure,
    redis::{self, Scan},
    runtime,
    signals::Signals,
    store::Redis,
    unique::unique,
};

/// Nobody waits for an answer, so a slow Redis is no reason to fail.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is written there, until it is deleted: nothing is written after that.
pub(crate) struct Shared(Arc<Mutex<Option<Open>>>);

struct Open {
    runtime: Runtime,
    clock: ManualClock,
    store: RedisStore,
    client: Client,
    prefix: String,
}

impl Shared {
    pub(crate) fn open(redis: &Redis) -> Result<Self, Failure> {
        let clock = ManualClock::at(0);
        let prefix = redis.prefix_of_its_own(&format!("simulate:{}", unique()));
        let store = redis.builder().prefix(&prefix).deadline(PATIENCE);
        let open = Open {
            runtime: runtime::of_this_thread()?,
            store: store.pool_size(1).clock(clock.clone()).build()?,
            clock,
            client: Client::open(&*redis.url)?,
            prefix,
        };
        let shared = Self(Arc::new(Mutex::new(Some(open))));
        delete_when_asked_to_end(Arc::clone(&shared.0))?;
        if let Err(failure) = shared.ask(Open::check) {
            // Nothing was written there.
            lock(&shared.0).take();
            return Err(failure);
        }
        Ok(shared)
    }

    pub(crate) fn decide(&self, at: Micros, operation: Operation) -> Result<Decision, Failure> {
        self.ask(|open| open.decide(at, operation))
    }

    fn ask<T>(&self, question: impl FnOnce(&Open) -> Result<T, StoreError>) -> Result<T, Failure> {
        match &*lock(&self.0) {
            Some(open) => Ok(question(open)?),
            None => Err("the run was asked to end".into()),
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(open) = lock(&self.0).take() {
            open.delete();
        }
    }
}

/// The lock keeps this from happening in the middle of a decision.
fn delete_when_asked_to_end(open: Arc<Mutex<Option<Open>>>) -> Result<(), Failure> {
    let runtime = runtime::of_this_thread()?;
    // Heard from now on, and not from when the thread gets going.
    let asked = runtime.block_on(async { Signals::listen() });
    thread::spawn(move || {
        let code = runtime.block_on(asked.any());
        let mut open = lock(&open);
        if let Some(open) = open.take() {
            open.delete();
        }
        exit(code);
    });
    Ok(())
}

fn lock(open: &Mutex<Option<Open>>) -> MutexGuard<'_, Option<Open>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Open {
    /// Whether it can be used at all.
    fn check(&self) -> Result<(), StoreError> {
        self.runtime.block_on(self.store.check())
    }

    fn decide(&self, at: Micros, operation: Operation) -> Result<Decision, StoreError> {
        self.clock.set(at);
        self.runtime.block_on(self.store.apply(operation))
    }

    fn delete(&self) {
        if let Err(error) = self.runtime.block_on(self.delete_each()) {
            let prefix = &self.prefix;
            eprintln!("the keys {prefix}:* could not be deleted, and will expire by themselves: {error}");
        }
    }

    async fn delete_each(&self) -> Result<(), RedisError> {
        let mut redis = redis::connect(&self.client, PATIENCE).await?;
        let mut scan = Scan::beginning_with(&format!("{}:", self.prefix));
        while let Some(keys) = scan.next(&mut redis).await? {
            if !keys.is_empty() {
                cmd("UNLINK").arg(keys).query_async::<()>(&mut redis).await?;
            }
        }
        Ok(())
    }
}
