//! Limits without middleware.

use std::{sync::Arc, time::Duration};

use crate::{
    cancellation::{PendingAcquire, RefundGuard},
    charge::{Charge, Charges},
    config_error::{self, ConfigError},
    decision::Decision,
    decision_span::DecisionSpan,
    extract::Global,
    key::Key,
    operation::Operation,
    permit::Permit,
    policy::Tier,
    quota::{self, Cost, Quota},
    receipt::Receipt,
    store::Store,
    wait_queue::{self, DEFAULT_MAX_WAITERS, WaitConfig, WaitQueues, WaitTimer},
};

/// Limits without middleware: for the messages of a websocket, the jobs of a queue, an admin page.
///
/// On one store, a limiter and a [`RateLimitLayer`](crate::RateLimitLayer) share their limits of the same name, algorithm and
/// window. Clones share the wait queues too.
///
/// ```
/// use tollgate::{CallKey, Global, Key, Limiter, MemoryStore, Quota, Tier};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// let store = MemoryStore::new();
/// # let store = MemoryStore::builder().clock(tollgate::ManualClock::at(0)).build(); // no time passes in this example
/// let messages = Limiter::token_bucket("messages", Quota::per_second(5), store)
///     .tier(Tier::fixed_window("messages.daily", Quota::per_day(10_000), CallKey))
///     .tier(Tier::token_bucket("messages.all", Quota::per_second(1000), Global));
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

/// The key of a [`Limiter`]'s tier that counts by the key of each call. The key of a tier that counts all calls together is
/// [`Global`](crate::Global).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallKey;

/// A [tier](Tier) of a [`Limiter`]. There is no response that could settle its charge, so the tier has no options.
#[derive(Clone, Debug)]
pub struct LimiterTier {
    /// A charge of the tier, with any key.
    charge: Charge,
    /// Whether it counts all keys together.
    is_global: bool,
}

impl<A> From<Tier<A, CallKey>> for LimiterTier {
    fn from(tier: Tier<A, CallKey>) -> Self {
        Self {
            charge: tier.charge_for(Key::GLOBAL),
            is_global: false,
        }
    }
}

impl<A> From<Tier<A, Global>> for LimiterTier {
    fn from(tier: Tier<A, Global>) -> Self {
        Self {
            charge: tier.charge_for(Key::GLOBAL),
            is_global: true,
        }
    }
}

impl<St> Limiter<St> {
    /// A limiter with one tier.
    pub fn new(tier: impl Into<LimiterTier>, store: St) -> Self {
        Self {
            tiers: [tier.into()].into(),
            store,
            queues: Arc::new(WaitQueues::new(DEFAULT_MAX_WAITERS)),
        }
    }

    /// Adds a tier. All tiers are charged together, all or none.
    ///
    /// # Panics
    /// If [`try_tier`](Self::try_tier) returns an error.
    #[track_caller]
    pub fn tier(self, tier: impl Into<LimiterTier>) -> Self {
        config_error::expect(self.try_tier(tier))
    }

    /// Adds a tier, or returns an error if another tier has its name.
    pub fn try_tier(self, tier: impl Into<LimiterTier>) -> Result<Self, ConfigError> {
        let tier = tier.into();
        tier.charge
            .limit
            .check_distinct(self.tiers.iter().map(|tier| &tier.charge.limit))?;
        let tiers = self.tiers.iter().cloned().chain([tier]).collect();
        Ok(Self { tiers, ..self })
    }

    /// The maximal number of calls that [wait](Self::wait) for one key: 100 by default, at least 1.
    pub fn max_waiters(self, max_waiters: usize) -> Self {
        let queues = Arc::new(WaitQueues::new(max_waiters));
        Self { queues, ..self }
    }
}

macro_rules! constructors {
    ($($algorithm:ident, $name:ident, $try_name:ident;)*) => {$(
        #[doc = concat!("A limiter that counts by the key of each call, with a [`", stringify!($algorithm), "`](crate::", stringify!($algorithm), ").")]
        ///
        /// # Panics
        #[doc = concat!("If [`", stringify!($try_name), "`](Self::", stringify!($try_name), ") returns an error.")]
        #[track_caller]
        pub fn $name(name: &str, quota: Quota, store: St) -> Self {
            config_error::expect(Self::$try_name(name, quota, store))
        }

        #[doc = concat!("Like [`", stringify!($name), "`](Self::", stringify!($name), "),")]
        /// or an error if the name or the quota is invalid.
        pub fn $try_name(name: &str, quota: Quota, store: St) -> Result<Self, ConfigError> {
            Ok(Self::new(Tier::$try_name(name, quota, CallKey)?, store))
        }
    )*};
}

impl<St> Limiter<St> {
    constructors! {
        TokenBucket, token_bucket, try_token_bucket;
        LeakyBucket, leaky_bucket, try_leaky_bucket;
        FixedWindow, fixed_window, try_fixed_window;
        SlidingLog, sliding_log, try_sliding_log;
        SlidingCounter, sliding_counter, try_sliding_counter;
    }
}

impl<St> Limiter<St> {
    /// A limiter with a [`Concurrency`](crate::Concurrency) limit: [`hold`](Self::hold) the slots of its decisions.
    ///
    /// # Panics
    /// If [`try_concurrency`](Self::try_concurrency) returns an error.
    #[track_caller]
    pub fn concurrency(name: &str, limit: u32, store: St) -> Self {
        config_error::expect(Self::try_concurrency(name, limit, store))
    }

    /// Like [`concurrency`](Self::concurrency), or an error if the name or the limit is invalid.
    pub fn try_concurrency(name: &str, limit: u32, store: St) -> Result<Self, ConfigError> {
        Ok(Self::new(Tier::try_concurrency(name, limit, CallKey)?, store))
    }
}

impl<St: Store> Limiter<St> {
    /// Takes the slots of concurrency limits out of a decision: they are held until the last clone of the permit is dropped. `None` if it
    /// has none. Slots that are not taken out are held until the [receipt](Decision::take_receipt) is refunded or settled, or for ever.
    ///
    /// ```
    /// use tollgate::{Key, Limiter, MemoryStore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let exports = Limiter::concurrency("exports", 1, MemoryStore::new());
    /// let Ok(mut decision) = exports.check(&Key::GLOBAL).await;
    /// let permit = exports.hold(&mut decision).expect("it was admitted");
    /// let Ok(second) = exports.check(&Key::GLOBAL).await;
    /// assert!(!second.admits());
    /// drop(permit);
    /// let Ok(third) = exports.check(&Key::GLOBAL).await;
    /// assert!(third.admits());
    /// # }
    /// ```
    pub fn hold(&self, decision: &mut Decision) -> Option<Permit> {
        wait_queue::permit(&self.store, decision, Some(&self.queues))
    }

    /// Charges 1 if every tier admits it. If a queueing leaky bucket admits it with a [`delay`](Decision::delay), the caller
    /// has to sleep for that long. [`wait`](Self::wait) includes the delay.
    pub async fn check(&self, key: &Key) -> Result<Decision, St::Error> {
        self.check_n(key, 1).await
    }

    /// Charges `cost` to every tier, or nothing. A cost of 0 is decided, but charges nothing.
    pub async fn check_n(&self, key: &Key, cost: u64) -> Result<Decision, St::Error> {
        let charges = self.charges(key, cost);
        let mut span = DecisionSpan::new(&charges);
        span.record(PendingAcquire::new(&self.store, charges).wait(&self.store))
            .await
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
    /// use tollgate::{Key, Limiter, MemoryStore, Quota};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mails = Limiter::leaky_bucket("mails", Quota::per_second(100), MemoryStore::new());
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
    /// use tollgate::{Key, Limiter, MemoryStore, Quota};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let jobs = Limiter::token_bucket("jobs", Quota::per_minute(10), MemoryStore::new());
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
        self.correct(Operation::refund(receipt)).await
    }

    /// Corrects a charge to the [true costs of its receipt](Receipt::settled), and returns the state after it:
    /// `limiter.settle(receipt.settled(1500))`.
    pub async fn settle(&self, receipt: Receipt) -> Result<Decision, St::Error> {
        self.correct(Operation::settle(receipt)).await
    }

    /// What it returns may be slots that a call waits for.
    async fn correct(&self, operation: Operation) -> Result<Decision, St::Error> {
        let corrected = self.store.apply(operation).await;
        self.queues.wake_for_slots();
        corrected
    }

    /// Resets the state of a key in every tier that counts by the key, and returns the state of these tiers. Tiers that count
    /// all calls together keep their counts. Calls that already [wait](Self::wait) do not retry earlier.
    pub async fn reset(&self, key: &Key) -> Result<Decision, St::Error> {
        let by_key = self.tiers.iter().filter(|tier| !tier.is_global);
        let charges = by_key.map(|tier| tier.charge(key, 0));
        self.store
            .apply(Operation::Reset(Charges::from_distinct(charges)))
            .await
    }

    fn charges(&self, key: &Key, cost: u64) -> Charges {
        let cost = quota::bounded(cost);
        Charges::from_distinct(self.tiers.iter().map(|tier| tier.charge(key, cost)))
    }
}

impl LimiterTier {
    fn charge(&self, key: &Key, cost: Cost) -> Charge {
        let key = if self.is_global { &Key::GLOBAL } else { key };
        Charge {
            key: key.clone(),
            ..self.charge.clone().with_cost(cost)
        }
    }
}
