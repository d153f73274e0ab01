//! Concurrency: how much is held at once.

use std::{fmt, time::Duration};

use smallvec::SmallVec;

use super::{Algorithm, AnyAlgorithm, Mark, algorithm::Sealed};
use crate::{
    config_error::{self, ConfigError},
    quota::{Cost, MAX_COUNT},
    time::{MAX_TIMESTAMP, Micros, SECOND, micros},
    verdict::{RawOutcome, Remaining, Verdict},
};

/// A holder renews after a third of it, which takes a call.
const MIN_TIME_TO_LIVE: Duration = Duration::from_secs(1);

/// What a crashed process held is lost for as long.
const MAX_TIME_TO_LIVE: Duration = Duration::from_secs(24 * 3600);

/// The longest hint for clients.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * 3600);

/// When a state expires that does not: signed integers of databases represent it too.
pub(crate) const NEVER: Micros = i64::MAX as Micros;

/// The largest id and epoch of a holder: Lua's doubles represent larger integers inexactly.
const MAX_ID: u64 = (1 << 53) - 1;

/// Admits a request while less than `limit` is held. Each request holds its cost until it has been served.
///
/// The other algorithms limit how often, this one how many at once: for uploads, exports, streams, calls to a slow service. A layer holds
/// the slot of a request until its response body has ended; [the guide](crate::guide::concurrency) has the details.
///
/// It is not known when a slot becomes free. So a denial has no exact `retry_after`, but the [hint](Self::retry_after) of the limit.
///
/// ```
/// use tollgate::{Algorithm, Concurrency};
///
/// let limit = Concurrency::new(2);
/// let mut state = Default::default();
/// let (_, first) = limit.acquire(&mut state, 0, 1);
/// limit.acquire(&mut state, 0, 1);
/// assert!(!limit.peek(&state, 0, 1).outcome().admits());
/// limit.refund(&mut state, 5_000_000, first.unwrap(), 1); // it has been served
/// assert!(limit.peek(&state, 5_000_000, 1).outcome().admits());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Concurrency {
    pub(crate) limit: u32,
    pub(crate) time_to_live: Micros,
    pub(crate) retry_after: Micros,
    /// Whether denials report that the service is unavailable.
    pub(crate) unavailable: bool,
}

/// The state of a concurrency limit: what each holder holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConcurrencyState {
    holders: SmallVec<[Held; 1]>,
}

/// What one holder holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    id: u64,
    epoch: u64,
    count: u64,
    /// When it was added to the state. If a state was lost or a holder expired, it is another time.
    made_at: Micros,
    expires_at: Micros,
}

/// The sender of a call: a process, which holds what it has acquired until it releases it or expires.
///
/// An epoch begins with a new count, `base`. Calls of an earlier epoch have no effect: after an answer was lost, a holder begins an
/// epoch with the count that it knows, regardless of what the lost call did or still may do. Until it knows the entry of its epoch, each
/// of its calls may make the entry; from then on, its calls have an effect on that entry only. So a late call has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// A random number of the process.
    pub id: u64,
    /// Counts the corrections of what it holds.
    pub epoch: u64,
    /// What it held when the epoch began.
    pub base: u64,
    /// When its entry in the state was made, once it knows that in this epoch.
    pub made_at: Option<Micros>,
}

impl Holder {
    /// The only process that has access to the state. It does not expire while it holds anything.
    pub const LOCAL: Self = Self {
        id: 0,
        epoch: 0,
        base: 0,
        made_at: None,
    };

    /// Whether a call has no effect: a later epoch has begun, or the entry that the holder knows does not exist any more.
    fn is_superseded(self, own: Option<&Held>) -> bool {
        match (own, self.made_at) {
            (Some(own), Some(made_at)) => (own.epoch, own.made_at) != (self.epoch, made_at),
            (Some(own), None) => own.epoch > self.epoch,
            (None, made_at) => made_at.is_some(),
        }
    }

    /// What it holds by the entry in the state, if its epoch applies.
    fn held(self, own: Option<&Held>) -> u64 {
        match own {
            Some(own) if own.epoch >= self.epoch => own.count,
            _ if self.made_at.is_some() => 0,
            _ => self.base,
        }
    }

    /// The same holder, which knows when its entry was made.
    const fn with_entry(self, made_at: Micros) -> Self {
        Self {
            made_at: Some(made_at),
            ..self
        }
    }
}

impl Held {
    /// Whether it still counts.
    fn is_alive(&self, now: Micros) -> bool {
        now < self.expires_at || self.never_expires()
    }

    /// When what it holds would be free; 0 if it holds nothing.
    fn reset_after(&self, now: Micros) -> Micros {
        match self.count {
            0 => 0,
            _ => self.expires_at.saturating_sub(now).max(1),
        }
    }

    fn never_expires(&self) -> bool {
        self.id == Holder::LOCAL.id && self.count > 0
    }
}

impl ConcurrencyState {
    /// The state of these numbers, as it is displayed; `None` if no limit has such a state.
    pub(super) fn from_numbers(numbers: &[u64]) -> Option<Self> {
        let (holders, rest) = numbers.as_chunks();
        let held = |&[id, epoch, count, made_at, expires_at]: &[u64; 5]| Held {
            id,
            epoch,
            count,
            made_at,
            expires_at,
        };
        let holders: SmallVec<[Held; 1]> = holders.iter().map(held).collect();
        let is_valid = |held: &Held| {
            let is_exact = held.id <= MAX_ID && held.epoch <= MAX_ID && held.expires_at <= MAX_ID;
            is_exact && held.count <= MAX_COUNT && held.made_at <= MAX_TIMESTAMP
        };
        (rest.is_empty() && !holders.is_empty() && holders.iter().all(is_valid)).then_some(Self { holders })
    }

    /// The entry of a holder, if it has not expired.
    fn find(&self, holder: Holder, now: Micros) -> Option<usize> {
        let is_own = |held: &Held| held.id == holder.id && held.is_alive(now);
        self.holders.iter().position(is_own)
    }

    /// What the state has at a time.
    fn usage(&self, holder: Holder, now: Micros) -> Usage<'_> {
        let mut usage = Usage::default();
        for held in self.holders.iter().filter(|held| held.is_alive(now)) {
            if held.id == holder.id {
                usage.own = Some(held);
            } else {
                usage.others += held.count;
                usage.reset_after = usage.reset_after.max(held.reset_after(now));
            }
        }
        usage
    }

    /// The entry of the holder, which this call makes if the state does not know the epoch; `None` if the call is superseded. Removes
    /// what has expired.
    fn enter(&mut self, holder: Holder, now: Micros) -> Option<&mut Held> {
        let mut known = self.find(holder, now);
        if holder.is_superseded(known.map(|index| &self.holders[index])) {
            return None;
        }
        if !self.holders.iter().all(|held| held.is_alive(now)) {
            self.holders.retain(|held| held.is_alive(now));
            known = self.find(holder, now);
        }
        let index = known.unwrap_or(self.holders.len());
        if known.is_none_or(|index| self.holders[index].epoch < holder.epoch) {
            let held = Held {
                id: holder.id,
                epoch: holder.epoch,
                count: holder.base,
                made_at: now,
                expires_at: now,
            };
            match known {
                Some(index) => self.holders[index] = held,
                None => self.holders.push(held),
            }
        }
        Some(&mut self.holders[index])
    }
}

/// What a state has at a time.
#[derive(Default)]
struct Usage<'a> {
    /// The entry of the holder that asks.
    own: Option<&'a Held>,
    /// What the others hold.
    others: u64,
    /// When the last of the others that holds anything would expire.
    reset_after: Micros,
}

/// For simulations.
#[cfg(all(test, feature = "redis"))]
impl ConcurrencyState {
    /// The id, when its entry was made, and the count of each holder that has not expired.
    pub(crate) fn counts(&self, now: Micros) -> impl Iterator<Item = (u64, Micros, u64)> {
        let alive = self.holders.iter().filter(move |held| held.is_alive(now));
        alive.map(|held| (held.id, held.made_at, held.count))
    }

    /// Sets what a holder holds.
    pub(crate) fn set_count(&mut self, id: u64, count: u64) {
        let own = self.holders.iter_mut().filter(|held| held.id == id);
        own.for_each(|held| held.count = count);
    }
}

impl fmt::Display for ConcurrencyState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, held) in self.holders.iter().enumerate() {
            let separator = if index == 0 { "" } else { " " };
            let Held {
                id,
                epoch,
                count,
                made_at,
                expires_at,
            } = held;
            write!(f, "{separator}{id} {epoch} {count} {made_at} {expires_at}")?;
        }
        Ok(())
    }
}

impl Concurrency {
    /// A limit on what is held at once.
    ///
    /// # Panics
    /// If [`try_new`](Self::try_new) returns an error.
    #[track_caller]
    pub fn new(limit: u32) -> Self {
        config_error::expect(Self::try_new(limit))
    }

    /// A limit on what is held at once, or an error if it is 0.
    pub fn try_new(limit: u32) -> Result<Self, ConfigError> {
        match limit {
            0 => Err(ConfigError::new("limit", limit, "be from 1 to 4294967295")),
            _ => Ok(Self {
                limit,
                time_to_live: 30 * SECOND,
                retry_after: SECOND,
                unavailable: false,
            }),
        }
    }

    /// How long Redis keeps what a process held after it has stopped: 30 seconds by default. A process renews what it holds three times as
    /// often. Without Redis it has no effect.
    ///
    /// # Panics
    /// If [`try_time_to_live`](Self::try_time_to_live) returns an error.
    #[track_caller]
    #[must_use]
    pub fn time_to_live(self, time: Duration) -> Self {
        config_error::expect(self.try_time_to_live(time))
    }

    /// Like [`time_to_live`](Self::time_to_live), or an error if the time is not from a second to a day.
    pub fn try_time_to_live(self, time: Duration) -> Result<Self, ConfigError> {
        let time_to_live = micros(time);
        match (MIN_TIME_TO_LIVE..=MAX_TIME_TO_LIVE).contains(&time) {
            true => Ok(Self { time_to_live, ..self }),
            false => Err(ConfigError::new(
                "time_to_live",
                format_args!("{time:?}"),
                "be from 1s to 1d",
            )),
        }
    }

    /// When clients whose request was denied should try again: after a second by default. It is a hint, since it is not known when a slot
    /// becomes free. Choose how long a request usually takes.
    ///
    /// # Panics
    /// If [`try_retry_after`](Self::try_retry_after) returns an error.
    #[track_caller]
    #[must_use]
    pub fn retry_after(self, time: Duration) -> Self {
        config_error::expect(self.try_retry_after(time))
    }

    /// Like [`retry_after`](Self::retry_after), or an error if the time is 0 or longer than a day.
    pub fn try_retry_after(self, time: Duration) -> Result<Self, ConfigError> {
        let retry_after = micros(time);
        match !time.is_zero() && time <= MAX_RETRY_AFTER {
            true => Ok(Self { retry_after, ..self }),
            false => Err(ConfigError::new(
                "retry_after",
                format_args!("{time:?}"),
                "be longer than 0 and at most 1d",
            )),
        }
    }

    /// Denies requests with 503 (Service Unavailable) instead of 429 (Too Many Requests), and with `UNAVAILABLE` in gRPC: for a limit that
    /// protects the service, and that one client alone does not exceed.
    #[must_use]
    pub const fn unavailable_when_full(self) -> Self {
        Self {
            unavailable: true,
            ..self
        }
    }

    /// [`peek`](Algorithm::peek) for a holder. For stores of your own that several processes share. If the call is superseded, the outcome
    /// is limited with a `retry_after` of zero.
    pub fn peek_as(&self, holder: Holder, state: &ConcurrencyState, now: Micros, cost: Cost) -> Verdict {
        let limit = u64::from(self.limit);
        let usage = state.usage(holder, now);
        let mut held = usage.others + holder.held(usage.own);
        let mut own_reset_after = usage.own.map_or(0, |own| own.reset_after(now));
        let is_superseded = holder.is_superseded(usage.own);
        let outcome = if cost == 0 {
            RawOutcome::Admitted { delay: 0 }
        } else if cost > self.limit {
            RawOutcome::Impossible
        } else if is_superseded || held + u64::from(cost) > limit {
            let retry_after = if is_superseded { 0 } else { self.retry_after };
            RawOutcome::Limited { retry_after }
        } else {
            held += u64::from(cost);
            own_reset_after = self.time_to_live;
            RawOutcome::Admitted { delay: 0 }
        };
        Verdict {
            outcome,
            remaining: Remaining::new(limit.saturating_sub(held), outcome, || self.retry_after),
            reset_after: usage.reset_after.max(own_reset_after),
        }
    }

    /// [`acquire`](Algorithm::acquire) for a holder.
    pub fn acquire_as(
        &self,
        holder: Holder,
        state: &mut ConcurrencyState,
        now: Micros,
        cost: Cost,
    ) -> (Verdict, Option<Mark>) {
        let verdict = self.peek_as(holder, state, now, cost);
        let is_charged = verdict.outcome.admits() && cost > 0;
        (verdict, is_charged.then(|| self.commit_as(holder, state, now, cost)))
    }

    fn commit_as(&self, holder: Holder, state: &mut ConcurrencyState, now: Micros, cost: Cost) -> Mark {
        let mut position = now;
        if let Some(held) = state.enter(holder, now) {
            held.count += u64::from(cost);
            held.expires_at = now + self.time_to_live;
            position = held.made_at;
        }
        Mark::new(now, position, 0)
    }

    /// Releases what a holder holds, and returns when its entry was made; `None` if the call is superseded.
    pub fn release_as(&self, holder: Holder, state: &mut ConcurrencyState, now: Micros, cost: Cost) -> Option<Micros> {
        let held = state.enter(holder, now)?;
        held.count = held.count.saturating_sub(u64::from(cost));
        held.expires_at = now + self.time_to_live;
        Some(held.made_at)
    }

    /// Extends the life of what a holder holds, and returns when its entry was made; `None` if the call is superseded.
    pub fn renew_as(&self, holder: Holder, state: &mut ConcurrencyState, now: Micros) -> Option<Micros> {
        self.release_as(holder, state, now, 0)
    }
}

impl Sealed for Concurrency {}

/// For the only process that has access to the state.
impl Algorithm for Concurrency {
    type State = ConcurrencyState;

    fn peek(&self, state: &ConcurrencyState, now: Micros, cost: Cost) -> Verdict {
        self.peek_as(Holder::LOCAL, state, now, cost)
    }

    fn commit(&self, state: &mut ConcurrencyState, now: Micros, cost: Cost) -> Mark {
        self.commit_as(Holder::LOCAL, state, now, cost)
    }

    fn refund(&self, state: &mut ConcurrencyState, now: Micros, mark: Mark, cost: Cost) {
        self.release_as(Holder::LOCAL.with_entry(mark.position), state, now, cost);
    }

    /// A request that is settled has been served: it holds nothing any more.
    fn settle(&self, state: &mut ConcurrencyState, now: Micros, mark: Mark, cost: Cost, _: Cost) {
        self.refund(state, now, mark, cost);
    }

    fn overcharge(&self, _: &mut ConcurrencyState, _: Micros, _: Cost) {}

    fn expires_at(&self, state: &ConcurrencyState) -> Micros {
        let expiry = |held: &Held| {
            if held.never_expires() { NEVER } else { held.expires_at }
        };
        state.holders.iter().map(expiry).max().unwrap_or(0)
    }

    fn to_any(&self) -> AnyAlgorithm {
        AnyAlgorithm::Concurrency(*self)
    }
}
