//! The conformance tests for stores, on every store: in memory, on Redis (also its oldest supported version), Valkey and a cluster, and in
//! an SQLite file.

use std::{
    cell::Cell,
    collections::HashMap,
    convert::Infallible,
    future::{Ready, ready},
    process::Child,
    sync::{Arc, Mutex},
    thread,
};

use futures_util::future::BoxFuture;
use sqlite_store::SqliteStore;
use support::{cluster::Cluster, folder::Folder, project::example, redis::RedisServer, wait::with_timeout};
use tokio::sync::{mpsc, oneshot};
use tollgate::{
    Charge, Clock, Decision, FixedWindow, Key, Limit, ManualClock, MemoryStore, Operation, Quota, RedisStore,
    RedisStoreBuilder, State, Store, TierDecision,
};
use tollgate_conformance::{all_or_none, check, concurrency, traces, vectors};

/// A store with separate keys per case. In a cluster, keys of different limits are on different nodes.
fn fresh(store: impl Fn() -> RedisStoreBuilder) -> impl Fn(ManualClock) -> RedisStore {
    let cases = Cell::new(0);
    move |clock| {
        cases.set(cases.get() + 1);
        let store = store().prefix(format!("case{}", cases.get()));
        store.clock(clock).build().unwrap()
    }
}

#[tokio::test]
async fn memory() {
    check(&|clock| MemoryStore::builder().clock(clock).build()).await;
}

#[tokio::test]
async fn redis_and_valkey() {
    for server in RedisServer::each() {
        check(&fresh(|| server.store())).await;
    }
}

#[tokio::test]
async fn oldest_redis() {
    let server = RedisServer::oldest();
    check(&fresh(|| server.store())).await;
}

#[tokio::test]
async fn cluster() {
    let cluster = Cluster::start();
    check(&fresh(|| cluster.store())).await;
}

#[tokio::test]
async fn sqlite() {
    let folder = Folder::new("sqlite");
    let cases = Cell::new(0);
    let fresh = |clock: ManualClock| {
        cases.set(cases.get() + 1);
        SqliteStore::open(&folder.path().join("limits.db"), &cases.get().to_string(), clock).unwrap()
    };
    check(&fresh).await;
}

/// Each process checks its own rows, while the other one writes to the same file.
#[test]
fn sqlite_from_two_processes() {
    let folder = Folder::new("sqlite");
    let file = folder.path().join("limits.db");
    let start = || -> Child { example("sqlite").arg("--check").arg(&file).spawn().unwrap() };
    for process in [start(), start()] {
        let output = process.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}");
        assert_eq!(output.stdout, b"the store passes all tests\n", "{text}");
    }
}

/// Two connections charge the same rows: SQLite's lock keeps their transactions apart, as for two processes.
#[test]
fn sqlite_from_two_connections() {
    let folder = Folder::new("sqlite");
    let clock = ManualClock::at(0);
    let open = || SqliteStore::open(&folder.path().join("limits.db"), "shared", clock.clone()).unwrap();
    let limit = Limit::new("shared", FixedWindow::new(Quota::per_day(100)));
    let admitted = |store: &SqliteStore| {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let admits = |_: &usize| {
            let charge = Charge::new(limit.clone(), Key::GLOBAL);
            runtime
                .block_on(store.apply(Operation::Acquire(charge.into())))
                .unwrap()
                .admits()
        };
        (0..100).filter(admits).count()
    };
    let stores = [open(), open()];
    let admitted = thread::scope(|scope| {
        let threads = stores.each_ref().map(|store| scope.spawn(move || admitted(store)));
        threads.map(|thread| thread.join().unwrap())
    });
    assert_eq!(admitted.iter().sum::<usize>(), 100, "{admitted:?}");
}

/// A store that is wrong in one way.
#[derive(Clone)]
struct Faulty {
    fault: Fault,
    states: Arc<Mutex<HashMap<String, State>>>,
    clock: Clock,
}

#[derive(Clone, Copy)]
enum Fault {
    /// It does not store new states.
    ForgetsStates,
    /// It applies a charge of several tiers to one after the other, as far as they admit it.
    ChargesSome,
    /// It keeps one state per limit instead of one per key.
    SharesKeys,
    /// It keeps one state per name of a limit, also for limits with different windows.
    SharesLimits,
}

impl Faulty {
    fn fresh(fault: Fault) -> impl Fn(ManualClock) -> Self {
        move |clock| Self {
            fault,
            states: Arc::default(),
            clock: clock.into(),
        }
    }

    fn name(&self, charge: &Charge) -> String {
        match self.fault {
            Fault::SharesKeys => charge.limit().to_string(),
            Fault::SharesLimits => format!("{}:{}", charge.limit().name(), charge.key().as_str()),
            _ => format!("{}:{}", charge.limit(), charge.key().as_str()),
        }
    }

    fn apply_to_all(&self, operation: Operation) -> Decision {
        let names: Vec<String> = operation.charges().map(|charge| self.name(charge)).collect();
        let mut stored = self.states.lock().unwrap();
        let state = |name: &String| stored.get(name).cloned().unwrap_or_default();
        let mut states: Vec<State> = names.iter().map(state).collect();
        let decision = operation.apply_to(&mut states, self.clock.now());
        if !matches!(self.fault, Fault::ForgetsStates) {
            stored.extend(names.into_iter().zip(states));
        }
        decision
    }
}

impl Store for Faulty {
    type Error = Infallible;
    type Future = Ready<Result<Decision, Infallible>>;

    fn apply(&self, operation: Operation) -> Self::Future {
        ready(Ok(match (self.fault, operation) {
            (Fault::ChargesSome, Operation::Acquire(charges)) => {
                let each = charges.iter().map(|charge| {
                    let mut decision = self.apply_to_all(Operation::Acquire(charge.clone().into()));
                    let tier = TierDecision::new(charge.clone(), decision.tiers()[0].verdict());
                    match decision.take_receipt() {
                        Some(receipt) => tier.with_mark(receipt.charged()[0].mark()),
                        None => tier,
                    }
                });
                Decision::from_tiers(self.clock.now(), each.collect::<Vec<_>>())
            }
            (_, operation) => self.apply_to_all(operation),
        }))
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }
}

#[tokio::test]
#[should_panic(expected = "step 1: remaining")]
async fn vectors_find_a_store_that_forgets() {
    vectors(&Faulty::fresh(Fault::ForgetsStates)).await;
}

#[tokio::test]
#[should_panic(expected = "a denied request is charged to no tier")]
async fn all_or_none_finds_a_store_that_charges_some() {
    all_or_none(&Faulty::fresh(Fault::ChargesSome)).await;
}

#[tokio::test]
#[should_panic(expected = "another key has its own state")]
async fn all_or_none_finds_a_store_that_shares_keys() {
    all_or_none(&Faulty::fresh(Fault::SharesKeys)).await;
}

#[tokio::test]
#[should_panic(expected = "a limit with another window has its own state")]
async fn all_or_none_finds_a_store_that_shares_limits() {
    all_or_none(&Faulty::fresh(Fault::SharesLimits)).await;
}

#[tokio::test]
#[should_panic(expected = "case 0, step")]
async fn traces_find_a_store_that_forgets() {
    traces(&Faulty::fresh(Fault::ForgetsStates), 1).await;
}

#[tokio::test]
#[should_panic(expected = "200 requests under a limit of 100")]
async fn concurrency_finds_a_store_that_forgets() {
    concurrency(&Faulty::fresh(Fault::ForgetsStates)).await;
}

/// A store whose operations are executed by a task on the runtime that opened it, as the connections of a pool are.
#[derive(Clone)]
struct ByTask {
    operations: mpsc::UnboundedSender<(Operation, oneshot::Sender<Decision>)>,
    clock: Clock,
}

impl ByTask {
    fn open(clock: ManualClock) -> Self {
        let (operations, mut received) = mpsc::unbounded_channel::<(Operation, oneshot::Sender<Decision>)>();
        let store = MemoryStore::builder().clock(clock.clone()).build();
        tokio::spawn(async move {
            while let Some((operation, reply)) = received.recv().await {
                let Ok(decision) = store.apply(operation).await;
                reply.send(decision).unwrap();
            }
        });
        let clock = clock.into();
        Self { operations, clock }
    }
}

impl Store for ByTask {
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Decision, Infallible>>;

    fn apply(&self, operation: Operation) -> Self::Future {
        let (reply, decision) = oneshot::channel();
        self.operations.send((operation, reply)).unwrap();
        Box::pin(async { Ok(decision.await.unwrap()) })
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }
}

#[tokio::test]
async fn a_store_may_depend_on_the_runtime_of_the_caller() {
    with_timeout(check(&ByTask::open)).await;
}
