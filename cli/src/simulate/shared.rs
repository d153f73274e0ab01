//! A Redis that others use too: all that is written there is under a prefix of its own, and deleted however the run ends.

use std::{
    process::exit,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use tokio::runtime::{Builder, Runtime};
use tollgate::{
    Decision, ManualClock, Micros, Operation, RedisStore, Store, StoreError,
    redis::{AsyncConnectionConfig, Client, RedisError, cmd},
};

use crate::{
    common::{signals::Signals, unique::unique},
    failure::Failure,
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
    pub(crate) fn open(url: &str) -> Result<Self, Failure> {
        let clock = ManualClock::at(0);
        let prefix = format!("simulate:{}", unique());
        let store = RedisStore::builder().url(url).prefix(&prefix).deadline(PATIENCE);
        let open = Open {
            runtime: runtime(),
            store: store.pool_size(1).clock(clock.clone()).build()?,
            clock,
            client: Client::open(url)?,
            prefix,
        };
        let shared = Self(Arc::new(Mutex::new(Some(open))));
        delete_when_asked_to_end(Arc::clone(&shared.0));
        shared.ask(Open::check)?;
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
fn delete_when_asked_to_end(open: Arc<Mutex<Option<Open>>>) {
    let runtime = runtime();
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
        let patience = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(PATIENCE))
            .set_response_timeout(Some(PATIENCE));
        let connection = self.client.get_multiplexed_async_connection_with_config(&patience);
        let mut redis = connection.await?;
        let pattern = format!("{}:*", self.prefix);
        let mut cursor = 0_u64;
        loop {
            let mut scan = cmd("SCAN");
            scan.arg(cursor).arg("MATCH").arg(&pattern).arg("COUNT").arg(1000);
            let (next, keys): (u64, Vec<Vec<u8>>) = scan.query_async(&mut redis).await?;
            if !keys.is_empty() {
                cmd("UNLINK").arg(keys).query_async::<()>(&mut redis).await?;
            }
            if next == 0 {
                return Ok(());
            }
            cursor = next;
        }
    }
}

fn runtime() -> Runtime {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime of one thread")
}
