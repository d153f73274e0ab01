//! The Redis store, and the future of its decisions.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::{runtime::Handle, time::Instant};

use super::{
    super::Store,
    batch::Response,
    batcher::{Batcher, PendingResponse},
    check,
    error::StoreError,
    health::Health,
    leases::{Leases, LocalTiers},
    router::Router,
};
use crate::{
    cancellation,
    charge::{Charge, Charges},
    clock::Clock,
    decision::Decision,
    decision_span,
    key::Key,
    limit::Limit,
    metrics::{self, StoreCallOutcome, StoreCallTimer},
    operation::Operation,
};

/// A store in Redis, for all processes that share it. Clones share its connections.
///
/// It connects on first use, and reconnects after a connection is lost. A call that exceeds the deadline, 100 ms by default, is
/// an error; it may have been charged, so the store does not retry it. A connection belongs to the runtime that created it:
/// after that runtime has ended, the first call or two from another runtime fail.
///
/// If three of the last ten calls have failed, a circuit breaker opens: calls then fail fast, until a background task has
/// probed Redis successfully, within a second after it recovers. [`health`](Self::health) returns the state of the circuit
/// breaker. The [layer](crate::RateLimitLayer#when-the-store-fails) determines what happens to requests meanwhile.
///
/// Redis may be standalone, a primary that [sentinels](crate::RedisStoreBuilder::sentinels) monitor, or a
/// [cluster](crate::RedisStoreBuilder::cluster); Redis 6.2 or later, or Valkey. Set `maxmemory-policy` to `noeviction` or
/// `volatile-ttl`: if Redis evicts a key, its limit is reset.
///
/// ```no_run
/// use tollgate::RedisStore;
///
/// # async fn start() -> Result<(), tollgate::StoreError> {
/// let store = RedisStore::connect("redis://127.0.0.1:6379")?;
/// store.check().await?; // fails at start-up, not at the first request
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RedisStore(pub(super) Arc<Inner>);

/// What the clones of a store share.
pub(super) struct Inner {
    pub(super) batcher: Arc<Batcher>,
    /// `None` with a clock other than that of Redis, on which leases would not end in time.
    pub(super) leases: Option<Arc<Leases>>,
    pub(super) router: Arc<Router>,
    pub(super) clock: Clock,
}

impl Inner {
    /// Decides about a request with one tier, if this node holds enough of its units.
    fn acquire_by_lease(&self, charges: Charges) -> Result<Decision, Charges> {
        let Some(leases) = &self.leases else {
            return Err(charges);
        };
        let charge = charges.into_one()?;
        let Some((spent, ask)) = leases.spend(&charge) else {
            return Err(Charges::from(charge));
        };
        ask.into_iter().for_each(|ask| self.batcher.renew_lease(ask));
        count_local_request();
        Ok(Decision::of_one(spent.now, spent.decision(charge)))
    }
}

/// Counts a request that leases decided about, and records it in its span.
fn count_local_request() {
    metrics::count_local_request();
    decision_span::record_lease();
}

/// Calls to Redis need the timers and tasks of a runtime.
fn require_runtime() -> Result<(), StoreError> {
    Handle::try_current().map(drop).map_err(|_| StoreError::NoRuntime)
}

impl RedisStore {
    /// Acquires, settles and resets a charge under limits for this purpose, on every node, so that errors show at start-up.
    pub async fn check(&self) -> Result<(), StoreError> {
        require_runtime()?;
        check::check(&self.0.router).await
    }

    /// The Redis key with the state of a limit for a key, for tools that read it directly.
    ///
    /// ```
    /// use tollgate::{Key, Limit, Quota, RedisStore, TokenBucket};
    ///
    /// let store = RedisStore::connect("redis://127.0.0.1:6379")?;
    /// let limit = Limit::new("user", TokenBucket::new(Quota::per_minute(100)));
    /// let key = store.redis_key(&limit, &Key::named("user", 12345));
    /// assert_eq!(key, "rate_limit:token_bucket:user:60000000:user:12345");
    /// # Ok::<(), tollgate::StoreError>(())
    /// ```
    pub fn redis_key(&self, limit: &Limit, key: &Key) -> String {
        let charge = Charge::new(limit.clone(), key.clone());
        self.0.router.encoder.key(&charge)
    }

    /// Returns the units that this node has [leased](crate::Tier::lease), so that other nodes can use them before they expire. Call it when
    /// the service has stopped.
    pub async fn return_leases(&self) {
        if require_runtime().is_ok() {
            self.0.batcher.return_leases().await;
        }
    }

    /// The health of the nodes of this store.
    pub fn health(&self) -> Health {
        Health::of(&self.0.router.topology.breakers(), &self.0.batcher.overload)
    }
}

impl Store for RedisStore {
    type Error = StoreError;
    type Future = RedisDecision;

    fn apply(&self, operation: Operation) -> RedisDecision {
        RedisDecision::new(Arc::clone(&self.0), operation)
    }

    fn acquire_now(&self, charges: Charges) -> Result<Decision, Charges> {
        self.0.acquire_by_lease(charges)
    }

    fn clock(&self) -> &Clock {
        &self.0.clock
    }
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore")
            .field("address", self.0.router.topology.address())
            .field("prefix", self.0.router.encoder.prefix())
            .field("deadline", &self.0.batcher.timeout())
            .finish_non_exhaustive()
    }
}

/// The future of a [`RedisStore`](crate::RedisStore)'s decision. It sends nothing before it is first polled.
#[must_use = "futures do nothing unless polled"]
pub struct RedisDecision {
    store: Arc<Inner>,
    /// `None` after the first poll.
    operation: Option<Operation>,
    /// The tiers that Redis is not asked about.
    local: Option<LocalTiers>,
    pending: Option<(StoreCallTimer, PendingResponse)>,
    /// Whether it may acquire or release slots of concurrency limits.
    has_slots: bool,
    /// When Redis must have answered about the other tiers.
    deadline: Option<Instant>,
}

impl RedisDecision {
    pub(super) fn new(store: Arc<Inner>, operation: Operation) -> Self {
        Self {
            store,
            operation: Some(operation),
            local: None,
            pending: None,
            has_slots: false,
            deadline: None,
        }
    }

    /// The response if Redis is not needed for it, or the operation for Redis.
    fn local_response(&mut self, operation: Operation) -> Result<Response, Operation> {
        if operation.charges().next().is_none() {
            return Ok(Ok(Decision::exempt(self.store.clock.now())));
        }
        let operation = match self.by_leases(operation) {
            Ok(decision) => return Ok(Ok(decision)),
            Err(operation) => operation,
        };
        let operation = match operation {
            Operation::Acquire(charges) => match self.store.batcher.cached_denial(charges) {
                Ok(denial) => return Ok(self.merged(Ok(denial))),
                Err(charges) => Operation::Acquire(charges),
            },
            operation => operation,
        };
        if let Err(error) = require_runtime() {
            self.store.batcher.drop_unsent(operation);
            return Ok(Err(error));
        }
        Err(operation)
    }

    /// Decides by the leases of this node, as far as they reach. Returns the operation for the tiers that are left for Redis.
    fn by_leases(&mut self, operation: Operation) -> Result<Decision, Operation> {
        let is_leased = |charge: &Charge| charge.limit.lease_micros().is_some();
        let leases = match &self.store.leases {
            Some(leases) if operation.charges().any(is_leased) => leases,
            _ => return Err(operation),
        };
        let (operation, acquires) = match operation {
            Operation::Acquire(charges) if charges.len() == 1 => {
                return self.store.acquire_by_lease(charges).map_err(Operation::Acquire);
            }
            Operation::Acquire(charges) => (Operation::Acquire(charges), true),
            correction => (correction, false),
        };
        let (local, operation) = LocalTiers::split(leases, operation);
        match (local, operation) {
            (Some(local), None) => {
                let decision = local.decision();
                if acquires {
                    count_local_request();
                    self.renew_leases(&decision);
                }
                Ok(decision)
            }
            (local, operation) => {
                self.local = local;
                Err(operation.unwrap_or_else(Operation::nothing))
            }
        }
    }

    /// Asks for the next leases of an admitted request's tiers.
    fn renew_leases(&self, decision: &Decision) {
        let taken = decision.tiers().iter().filter(|tier| tier.mark.is_some());
        self.store.batcher.renew_leases(taken.map(|tier| &tier.charge));
    }

    fn submit(&mut self, operation: Operation) -> PendingResponse {
        self.has_slots = operation.charges().any(Charge::holds_slots);
        self.deadline = self
            .local
            .as_ref()
            .map(|_| Instant::now() + self.store.batcher.timeout());
        let local = self.local.iter().flat_map(LocalTiers::charges);
        self.store.batcher.submit(operation, local)
    }

    /// The response with the tiers that this node decided about.
    fn merged(&mut self, response: Response) -> Response {
        match self.local.take() {
            Some(local) => match response {
                Ok(decision) => Ok(local.merge(decision)),
                Err(error) => local.without_others(error, self.deadline.unwrap_or_else(Instant::now)),
            },
            None => response,
        }
    }
}

impl Future for RedisDecision {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Response> {
        if let Some(operation) = self.operation.take() {
            match self.local_response(operation) {
                Ok(response) => return Poll::Ready(response),
                Err(operation) => {
                    let timer = StoreCallTimer::start();
                    self.pending = Some((timer, self.submit(operation)));
                }
            }
        }
        let pending = self.pending.as_mut();
        let (_, pending) = pending.expect("polled after completion");
        let response = ready!(Pin::new(pending).poll(context));
        if let Some((timer, _)) = self.pending.take() {
            timer.stop(match &response {
                Ok(_) => Some(StoreCallOutcome::Answered),
                Err(StoreError::CircuitOpen { .. }) => None,
                Err(_) => Some(StoreCallOutcome::Failed),
            });
        }
        if self.has_slots {
            self.store.batcher.start_renewer();
        }
        let response = self.merged(response);
        // In a cluster, leases may be in other slots than the request.
        if let (Ok(decision), Some(_), true) = (&response, &self.store.leases, self.store.router.topology.is_cluster())
            && decision.admits()
        {
            self.renew_leases(decision);
        }
        Poll::Ready(response)
    }
}

/// If the request was sent, its other tiers may be charged: what was taken from leases is put back only if Redis denies it. Slots of
/// concurrency limits are released.
impl Drop for RedisDecision {
    fn drop(&mut self) {
        let Some((_, mut pending)) = self.pending.take() else {
            return;
        };
        if self.has_slots {
            self.store.batcher.start_renewer();
        }
        let (store, local) = (Arc::clone(&self.store), self.local.take());
        let runtime = Handle::try_current().ok().filter(|_| pending.is_sent());
        match (local, runtime) {
            (None, _) if !self.has_slots => {}
            // Without a response, the batch finds that nothing waits for it.
            (None, _) => pending
                .take_response()
                .into_iter()
                .for_each(|response| release(&store, response)),
            (Some(local), Some(runtime)) => drop(runtime.spawn(async move {
                release(&store, pending.await.map(|decision| local.merge(decision)));
            })),
            (Some(local), None) => match pending.take_response() {
                Some(response) => release(&store, response.map(|decision| local.merge(decision))),
                None if pending.cancel() => local.keep(),
                None => {}
            },
        }
    }
}

/// Releases the slots of a decision that is not used.
pub(super) fn release(store: &Arc<Inner>, response: Response) {
    if let Ok(mut decision) = response
        && let Some(receipt) = decision.take_held()
    {
        let release = RedisDecision::new(Arc::clone(store), Operation::Refund(receipt));
        cancellation::complete(async move { drop(release.await) });
    }
}

impl fmt::Debug for RedisDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisDecision").finish_non_exhaustive()
    }
}
