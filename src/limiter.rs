//! Limits without middleware.

use std::{sync::Arc, time::Duration};

use crate::{
    algorithm::Algorithm,
    cancellation::{PendingAcquire, RefundGuard},
    charge::{Charge, Charges},
    config_error::{self, ConfigError},
    decision::Decision,
    decision_span::DecisionSpan,
    key::Key,
    limit::Limit,
    operation::Operation,
    quota,
    receipt::Receipt,
    store::Store,
    wait_queue::{DEFAULT_MAX_WAITERS, WaitConfig, WaitQueues, WaitTimer},
};

/// Limits without middleware: for the messages of a websocket, the jobs of a queue, an admin page.
///
/// On one store, a limiter and a [`RateLimitLayer`](crate::RateLimitLayer) share their limits of the same name, algorithm and
/// window. Clones share the wait queues too.
///
/// ```
/// use tollgate::{FixedWindow, Key, Limiter, MemoryStore, Quota, TokenBucket};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// let store = MemoryStore::new();
/// # let store = MemoryStore::builder().clock(tollgate::ManualClock::at(0)).build(); // no time passes in this example
/// let messages = Limiter::new("messages", TokenBucket::new(Quota::per_second(5)), store)
///     .tier("messages.daily", FixedWindow::new(Quota::per_day(10_000)))
///     .shared_tier("messages.all", TokenBucket::new(Quota::per_second(1000)));
///
/// let user = Key::named("user", 12345);
/// let decision = messages.check(&user).await?;
/// assert!(decision.admits());
/// assert!(messages.check_n(&user, 4).await?.admits());
/// assert!(!messages.check(&user).await?.admits());
/// assert_eq!(messages.peek(&user).await?.tiers()[0].verdict().remaining(), 0);
/// messages.reset(&user).await?; // on an admin's request
/// assert!(messages.check(&user).await?.admits());
/// # Ok(())
/// # }
/// ```
///
/// # When the store fails
/// Methods return the store's error, and the caller decides what to do. If the store failed for some tiers only, the charges of the
/// others are refunded. With a [`Fallback`](crate::Fallback) as the store,
/// `check`, `peek` and `wait` do not fail; refunds of charges that the store itself made, and `reset`, still need the store.
#[derive(Clone, Debug)]
#[must_use = "a limiter does nothing unless it is called"]
pub struct Limiter<St> {
    tiers: Arc<[LimiterTier]>,
    store: St,
    queues: Arc<WaitQueues>,
}

#[derive(Clone, Debug)]
struct LimiterTier {
    limit: Limit,
    /// Whether it counts all keys together.
    shared: bool,
}

impl<St> Limiter<St> {
    /// A limiter with one tier, which counts by the key of each call.
    ///
    /// # Panics
    /// If [`try_new`](Self::try_new) returns an error.
    #[track_caller]
    pub fn new(name: &str, algorithm: impl Algorithm, store: St) -> Self {
        config_error::expect(Self::try_new(name, algorithm, store))
    }

    /// A limiter with one tier, or an error if the name is not 1 to 64 characters of `a-z 0-9 _ . -`.
    pub fn try_new(name: &str, algorithm: impl Algorithm, store: St) -> Result<Self, ConfigError> {
        let limit = Limit::try_new(name, algorithm)?;
        let shared = false;
        Ok(Self {
            tiers: [LimiterTier { limit, shared }].into(),
            store,
            queues: Arc::new(WaitQueues::new(DEFAULT_MAX_WAITERS)),
        })
    }

    /// Adds a tier that counts by the key. All tiers are charged together, all or none.
    ///
    /// # Panics
    /// If [`try_tier`](Self::try_tier) returns an error.
    #[track_caller]
    pub fn tier(self, name: &str, algorithm: impl Algorithm) -> Self {
        config_error::expect(self.try_tier(name, algorithm))
    }

    /// Adds a tier that counts by the key, or returns an error if its name is invalid or another tier has it.
    pub fn try_tier(self, name: &str, algorithm: impl Algorithm) -> Result<Self, ConfigError> {
        self.with(name, algorithm, false)
    }

    /// Adds a tier that all keys share: it counts by [`Key::GLOBAL`].
    ///
    /// # Panics
    /// If [`try_shared_tier`](Self::try_shared_tier) returns an error.
    #[track_caller]
    pub fn shared_tier(self, name: &str, algorithm: impl Algorithm) -> Self {
        config_error::expect(self.try_shared_tier(name, algorithm))
    }

    /// Adds a tier that all keys share, or returns an error if its name is invalid or another tier has it.
    pub fn try_shared_tier(self, name: &str, algorithm: impl Algorithm) -> Result<Self, ConfigError> {
        self.with(name, algorithm, true)
    }

    /// The maximal number of calls that [wait](Self::wait) for one key: 100 by default, at least 1.
    pub fn max_waiters(self, max_waiters: usize) -> Self {
        let queues = Arc::new(WaitQueues::new(max_waiters));
        Self { queues, ..self }
    }

    fn with(self, name: &str, algorithm: impl Algorithm, shared: bool) -> Result<Self, ConfigError> {
        let limits = self.tiers.iter().map(|tier| &tier.limit);
        let limit = Limit::try_new_distinct(limits, name, algorithm)?;
        let tiers = self.tiers.iter().cloned().chain([LimiterTier { limit, shared }]);
        let tiers = tiers.collect();
        Ok(Self { tiers, ..self })
    }
}

impl<St: Store> Limiter<St> {
    /// Charges 1 if every tier admits it. If a queueing leaky bucket admits it with a [`delay`](Decision::delay), the caller
    /// has to sleep for that long. [`wait`](Self::wait) includes the delay.
    pub async fn check(&self, key: &Key) -> Result<Decision, St::Error> {
        self.check_n(key, 1).await
    }

    /// Charges `cost` to every tier, or nothing. A cost of 0 is decided, but charges nothing.
    pub async fn check_n(&self, key: &Key, cost: u64) -> Result<Decision, St::Error> {
        let charges = self.charges(key, cost);
        let mut span = DecisionSpan::new(&charges);
        span.record(PendingAcquire::new(charges, None).wait(&self.store)).await
    }

    /// Returns the current state of every tier without charging. Metrics and traces do not include it.
    pub async fn peek(&self, key: &Key) -> Result<Decision, St::Error> {
        self.store.apply(Operation::Peek(self.charges(key, 0))).await
    }

    /// Charges 1 as soon as every tier admits it, and returns when the call may proceed. If that takes longer than `max`,
    /// returns the decision that denies it.
    ///
    /// Calls for one key wait in a queue, as with [`RateLimitLayer::wait`](crate::RateLimitLayer::wait): in the order of arrival,
    /// but a call may overtake one of a higher cost that can still be admitted within its own `max`. `max` does not include the
    /// delay of a leaky bucket after it has admitted the call. A call that is dropped while it waits is charged nothing,
    /// except its place in a leaky bucket's queue if later requests are queued behind it.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{Key, LeakyBucket, Limiter, MemoryStore, Quota};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mails = Limiter::new("mails", LeakyBucket::new(Quota::per_second(100)), MemoryStore::new());
    /// for address in ["ann@example.org", "bob@example.org"] {
    ///     let Ok(decision) = mails.wait(&Key::GLOBAL, Duration::from_secs(60)).await;
    ///     assert!(decision.admits(), "{address} is admitted within a minute");
    /// }
    /// # }
    /// ```
    pub async fn wait(&self, key: &Key, max: Duration) -> Result<Decision, St::Error> {
        self.wait_n(key, 1, max).await
    }

    /// Like [`wait`](Self::wait), for any cost.
    pub async fn wait_n(&self, key: &Key, cost: u64, max: Duration) -> Result<Decision, St::Error> {
        let queues = Arc::clone(&self.queues);
        let wait = WaitConfig { max_wait: max, queues };
        let charges = self.charges(key, cost);
        let mut span = DecisionSpan::new(&charges);
        let mut decision = span.record(wait.acquire(&self.store, charges)).await?;
        let (clock, delay) = (self.store.clock(), decision.delay());
        let _timer = decision.delayed_by().map(|tier| WaitTimer::start(clock, tier.limit()));
        if !delay.is_zero()
            && let Some(receipt) = decision.take_receipt()
        {
            let refund_guard = RefundGuard::new(self.store.clone(), receipt);
            span.instrument(clock.sleep(delay)).await;
            if let Some(receipt) = refund_guard.take() {
                decision.restore_receipt(receipt);
            }
        }
        Ok(decision)
    }

    /// Refunds what still counts of a charge, by the receipt of its [decision](Decision::take_receipt), and returns the state
    /// after it.
    ///
    /// ```
    /// use tollgate::{Key, Limiter, MemoryStore, Quota, TokenBucket};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let jobs = Limiter::new("jobs", TokenBucket::new(Quota::per_minute(10)), MemoryStore::new());
    /// let Ok(mut decision) = jobs.check(&Key::GLOBAL).await;
    /// let receipt = decision.take_receipt().expect("it was admitted");
    /// let Ok(decision) = jobs.refund(receipt).await; // the job failed
    /// assert_eq!(decision.tiers()[0].verdict().remaining(), 10);
    /// # }
    /// ```
    ///
    /// A receipt is used once:
    ///
    /// ```compile_fail,E0382
    /// # use tollgate::{Limiter, MemoryStore, Receipt};
    /// # async fn twice(jobs: Limiter<MemoryStore>, receipt: Receipt) {
    /// jobs.refund(receipt).await;
    /// jobs.refund(receipt).await;
    /// # }
    /// ```
    pub async fn refund(&self, receipt: Receipt) -> Result<Decision, St::Error> {
        self.store.apply(Operation::Refund(receipt)).await
    }

    /// Corrects a charge to the [true costs of its receipt](Receipt::settled), and returns the state after it:
    /// `limiter.settle(receipt.settled(1500))`.
    pub async fn settle(&self, receipt: Receipt) -> Result<Decision, St::Error> {
        self.store.apply(Operation::Settle(receipt)).await
    }

    /// Resets the state of a key in every tier that counts by the key, and returns the state of these tiers. Shared tiers keep
    /// their counts. Calls that already [wait](Self::wait) do not retry earlier.
    pub async fn reset(&self, key: &Key) -> Result<Decision, St::Error> {
        let own = self.tiers.iter().filter(|tier| !tier.shared);
        let charges = own.map(|tier| Charge::new(tier.limit.clone(), key.clone()));
        self.store
            .apply(Operation::Reset(Charges::from_distinct(charges)))
            .await
    }

    fn charges(&self, key: &Key, cost: u64) -> Charges {
        let cost = quota::bounded(cost);
        Charges::from_distinct(self.tiers.iter().map(|tier| {
            let key = if tier.shared { Key::GLOBAL } else { key.clone() };
            Charge::new(tier.limit.clone(), key).cost(cost)
        }))
    }
}
