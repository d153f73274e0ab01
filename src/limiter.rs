//! Limits without middleware.

use std::{sync::Arc, time::Duration};

use crate::{
    algorithm::Algorithm,
    charge::{Charge, Charges},
    decision::Decision,
    invalid::{self, Invalid},
    key::Key,
    leaving::Place,
    limit::Limit,
    observed::Observed,
    operation::Operation,
    quota,
    receipt::Receipt,
    store::Store,
    waiting::{Patience, WAITERS, Waited, WaitingRoom},
};

/// Tiers and a store, for calls that you make yourself: the messages of a websocket, the jobs of a queue, an admin page.
///
/// It counts on the same store by the same names as a [`RateLimitLayer`](crate::RateLimitLayer) does, so the two can share a
/// limit. Clones share everything.
///
/// ```
/// use tollgate::{FixedWindow, Key, Limiter, MemoryStore, Quota, TokenBucket};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// let messages = Limiter::new("messages", TokenBucket::new(Quota::per_second(5)), MemoryStore::new())
///     .tier("messages.daily", FixedWindow::new(Quota::per_day(10_000)))
///     .shared_tier("messages.all", TokenBucket::new(Quota::per_second(1000)));
///
/// let user = Key::named("user", 12345);
/// let decision = messages.check(&user).await?;
/// assert!(decision.admits());
/// assert!(messages.check_n(&user, 4).await?.admits());
/// assert!(!messages.check(&user).await?.admits());
/// assert_eq!(messages.peek(&user).await?.tiers()[0].verdict().remaining(), 0);
/// messages.reset(&user).await?; // by the admin
/// assert!(messages.check(&user).await?.admits());
/// # Ok(())
/// # }
/// ```
///
/// # When the store fails
/// The error is the store's, and what to do about it is yours. With a [`Fallback`](crate::Fallback) for a store, `check`, `peek`
/// and `wait` do not fail; what the store itself has charged can be given back only there, and a `reset` has to reach it.
#[derive(Clone, Debug)]
#[must_use = "a limiter limits nothing until it is asked"]
pub struct Limiter<St> {
    tiers: Arc<[Tier]>,
    store: St,
    room: Arc<WaitingRoom>,
}

#[derive(Clone, Debug)]
struct Tier {
    limit: Limit,
    /// Whether everybody is counted as one.
    shared: bool,
}

impl<St> Limiter<St> {
    /// One tier, which counts by the key that it is asked about.
    ///
    /// # Panics
    /// Where [`try_new`](Self::try_new) returns an error.
    #[track_caller]
    pub fn new(name: &str, algorithm: impl Algorithm, store: St) -> Self {
        invalid::expect(Self::try_new(name, algorithm, store))
    }

    /// One tier under a name of 1 to 64 of `a-z 0-9 _ . -`, or an error when the name will not do.
    pub fn try_new(name: &str, algorithm: impl Algorithm, store: St) -> Result<Self, Invalid> {
        let limit = Limit::try_new(name, algorithm)?;
        let shared = false;
        Ok(Self {
            tiers: [Tier { limit, shared }].into(),
            store,
            room: Arc::new(WaitingRoom::new(WAITERS)),
        })
    }

    /// Another tier that counts by the key, charged together with the others, all or none.
    ///
    /// # Panics
    /// Where [`try_tier`](Self::try_tier) returns an error.
    #[track_caller]
    pub fn tier(self, name: &str, algorithm: impl Algorithm) -> Self {
        invalid::expect(self.try_tier(name, algorithm))
    }

    /// Another tier, unless its name will not do or is another tier's.
    pub fn try_tier(self, name: &str, algorithm: impl Algorithm) -> Result<Self, Invalid> {
        self.with(name, algorithm, false)
    }

    /// Another tier, which everybody shares: it counts by [`Key::GLOBAL`].
    ///
    /// # Panics
    /// Where [`try_shared_tier`](Self::try_shared_tier) returns an error.
    #[track_caller]
    pub fn shared_tier(self, name: &str, algorithm: impl Algorithm) -> Self {
        invalid::expect(self.try_shared_tier(name, algorithm))
    }

    /// Another tier that everybody shares, unless its name will not do or is another tier's.
    pub fn try_shared_tier(self, name: &str, algorithm: impl Algorithm) -> Result<Self, Invalid> {
        self.with(name, algorithm, true)
    }

    /// How many calls [wait](Self::wait) for one key at most: 100 unless told otherwise, and at least 1.
    pub fn waiters(self, waiters: usize) -> Self {
        let room = Arc::new(WaitingRoom::new(waiters));
        Self { room, ..self }
    }

    fn with(self, name: &str, algorithm: impl Algorithm, shared: bool) -> Result<Self, Invalid> {
        let limits = self.tiers.iter().map(|tier| &tier.limit);
        let limit = Limit::another(limits, name, algorithm)?;
        let tiers = self.tiers.iter().cloned().chain([Tier { limit, shared }]);
        let tiers = tiers.collect();
        Ok(Self { tiers, ..self })
    }
}

impl<St: Store> Limiter<St> {
    /// Charges 1 if every tier admits it. What [`admits`](Decision::admits) with a [`delay`](Decision::delay), by a leaky bucket
    /// that queues, is the caller's to hold back; [`wait`](Self::wait) does.
    pub async fn check(&self, key: &Key) -> Result<Decision, St::Error> {
        self.check_n(key, 1).await
    }

    /// Charges `cost`, all of it or nothing. What costs 0 asks without spending.
    pub async fn check_n(&self, key: &Key, cost: u64) -> Result<Decision, St::Error> {
        let charges = self.charges(key, cost);
        let mut observed = Observed::new(&charges);
        let asking = async { self.store.apply(Operation::Acquire(charges)).await };
        observed.answer(asking).await
    }

    /// Tells what is left, and charges nothing. Metrics and traces do not tell of it.
    pub async fn peek(&self, key: &Key) -> Result<Decision, St::Error> {
        self.store.apply(Operation::Acquire(self.charges(key, 0))).await
    }

    /// Charges 1 as soon as every tier admits it, and returns when the call may go; or, if that takes longer than `max`,
    /// returns the decision that refuses.
    ///
    /// Calls that wait for one key stand in line, as with [`RateLimitLayer::wait`](crate::RateLimitLayer::wait). The time that
    /// a leaky bucket holds what it has admitted comes on top. A call that is dropped while it waits is charged nothing, but for
    /// its place in a leaky bucket's queue if others stand behind it there.
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
    ///     assert!(decision.admits(), "there is room for {address} within a minute");
    /// }
    /// # }
    /// ```
    pub async fn wait(&self, key: &Key, max: Duration) -> Result<Decision, St::Error> {
        self.wait_n(key, 1, max).await
    }

    /// The same for a call that costs more than 1.
    pub async fn wait_n(&self, key: &Key, cost: u64, max: Duration) -> Result<Decision, St::Error> {
        let room = Arc::clone(&self.room);
        let patience = Patience { max, room };
        let charges = self.charges(key, cost);
        let mut observed = Observed::new(&charges);
        let mut decision = observed.answer(patience.admitted(&self.store, charges)).await?;
        let (clock, delay) = (self.store.clock(), decision.delay());
        let _waited = decision.held_by().map(|tier| Waited::begin(clock, tier.limit()));
        if !delay.is_zero()
            && let Some(receipt) = decision.take_receipt()
        {
            let place = Place::new(self.store.clone(), receipt);
            observed.during(clock.sleep(delay)).await;
            if let Some(receipt) = place.take() {
                decision.put_back(receipt);
            }
        }
        Ok(decision)
    }

    /// Gives back what still counts of a charge, by the receipt of its [decision](Decision::take_receipt), and tells what is
    /// left.
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
    /// Nothing is given back twice:
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

    /// Corrects a charge to the costs that [its receipt has been told](Receipt::settled), and tells what is left:
    /// `limiter.settle(receipt.settled(1500))`.
    pub async fn settle(&self, receipt: Receipt) -> Result<Decision, St::Error> {
        self.store.apply(Operation::Settle(receipt)).await
    }

    /// Forgets what this key has used, in every tier that counts by the key, and tells of these. What everybody shares stays
    /// counted. Who already [waits](Self::wait) asks again when it was told to.
    pub async fn reset(&self, key: &Key) -> Result<Decision, St::Error> {
        let own = self.tiers.iter().filter(|tier| !tier.shared);
        let charges = own.map(|tier| Charge::new(tier.limit.clone(), key.clone()));
        self.store.apply(Operation::Reset(Charges::apart(charges))).await
    }

    fn charges(&self, key: &Key, cost: u64) -> Charges {
        let cost = quota::bounded(cost);
        Charges::apart(self.tiers.iter().map(|tier| {
            let key = if tier.shared { Key::GLOBAL } else { key.clone() };
            Charge::new(tier.limit.clone(), key).cost(cost)
        }))
    }
}
