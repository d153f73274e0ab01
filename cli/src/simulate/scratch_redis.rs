//! Temporary keys in a Redis: under a random prefix, and deleted when the run ends, also by a signal.

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
    output::Failure,
    random_id,
    redis::{self, Scan},
    runtime::{self, Signals},
    store::RedisConfig,
};

/// No request waits for the decision, so a slow Redis is not an error.
const TIMEOUT: Duration = Duration::from_secs(10);

/// `None` once the keys are deleted: nothing is written after that.
pub(crate) struct ScratchRedis(Arc<Mutex<Option<OpenStore>>>);

struct OpenStore {
    runtime: Runtime,
    clock: ManualClock,
    store: RedisStore,
    client: Client,
    prefix: String,
}

impl ScratchRedis {
    pub(crate) fn open(redis: &RedisConfig) -> Result<Self, Failure> {
        let clock = ManualClock::at(0);
        let prefix = redis.sub_prefix(&format!("simulate:{}", random_id()));
        let store = redis.builder().prefix(&prefix).deadline(TIMEOUT);
        let open = OpenStore {
            runtime: runtime::current_thread()?,
            store: store.pool_size(1).clock(clock.clone()).build()?,
            clock,
            client: Client::open(&*redis.url)?,
            prefix,
        };
        let scratch = Self(Arc::new(Mutex::new(Some(open))));
        delete_on_signal(Arc::clone(&scratch.0))?;
        if let Err(failure) = scratch.with_store(OpenStore::check) {
            // Nothing was written, so there is nothing to delete.
            lock(&scratch.0).take();
            return Err(failure);
        }
        Ok(scratch)
    }

    pub(crate) fn apply(&self, at: Micros, operation: Operation) -> Result<Decision, Failure> {
        self.with_store(|open| open.apply(at, operation))
    }

    fn with_store<T>(&self, call: impl FnOnce(&OpenStore) -> Result<T, StoreError>) -> Result<T, Failure> {
        match &*lock(&self.0) {
            Some(open) => Ok(call(open)?),
            None => Err("interrupted by a signal".into()),
        }
    }
}

impl Drop for ScratchRedis {
    fn drop(&mut self) {
        if let Some(open) = lock(&self.0).take() {
            open.delete_keys();
        }
    }
}

/// Deletes the keys and exits on a signal. The lock defers this until an operation is finished.
fn delete_on_signal(open: Arc<Mutex<Option<OpenStore>>>) -> Result<(), Failure> {
    let runtime = runtime::current_thread()?;
    // Installed here rather than in the thread, which may start later.
    let signals = runtime.block_on(async { Signals::install() });
    thread::spawn(move || {
        let code = runtime.block_on(signals.recv());
        let mut open = lock(&open);
        if let Some(open) = open.take() {
            open.delete_keys();
        }
        exit(code);
    });
    Ok(())
}

fn lock(open: &Mutex<Option<OpenStore>>) -> MutexGuard<'_, Option<OpenStore>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

impl OpenStore {
    fn check(&self) -> Result<(), StoreError> {
        self.runtime.block_on(self.store.check())
    }

    fn apply(&self, at: Micros, operation: Operation) -> Result<Decision, StoreError> {
        self.clock.set(at);
        self.runtime.block_on(self.store.apply(operation))
    }

    fn delete_keys(&self) {
        if let Err(error) = self.runtime.block_on(self.try_delete_keys()) {
            let prefix = &self.prefix;
            eprintln!("the keys {prefix}:* could not be deleted; they expire by themselves: {error}");
        }
    }

    async fn try_delete_keys(&self) -> Result<(), RedisError> {
        let mut redis = redis::connect(&self.client, TIMEOUT).await?;
        let mut scan = Scan::with_prefix(&format!("{}:", self.prefix));
        while let Some(keys) = scan.next(&mut redis).await? {
            if !keys.is_empty() {
                cmd("UNLINK").arg(keys).query_async::<()>(&mut redis).await?;
            }
        }
        Ok(())
    }
}
