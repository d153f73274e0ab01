//! A service behind a limit, its clients, and what is checked after whatever befell its Redis.

use std::{collections::BTreeMap, convert::Infallible, time::Duration};

use tokio::time::Instant;
use tollgate::{
    Decision, FixedWindow, Key, Limit, MemoryStore, Quota, RateLimitLayer, RedisStore, RedisStoreBuilder, Rejection,
    Respond, redis::Connection,
};
use tower::{Layer, ServiceExt, service_fn, util::BoxCloneSyncService};

use support::{
    patience::{eventually, took},
    redis::{ask, keys, stored},
};

use crate::hazards::left::every_key_ends;

/// What each user may have in a window that does not end while a test runs.
pub(crate) const LIMIT: u64 = 100;

/// How long a store waits for a new connection; the deadline of those here is longer.
pub(crate) const CONNECTING: Duration = Duration::from_secs(5);

/// What the owner of a service chose for when its store fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mode {
    Open,
    Closed,
    Fallback,
}

pub(crate) const MODES: [Mode; 3] = [Mode::Open, Mode::Closed, Mode::Fallback];

/// What a client saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Seen {
    /// Redis admitted it.
    Admitted,
    /// Redis refused it.
    Refused,
    /// It passed, and nobody had counted it.
    Unchecked,
    /// It was told that there is nobody to count it.
    Unavailable,
    /// This node admitted it by itself.
    AdmittedHere,
    /// This node refused it by itself.
    RefusedHere,
}

/// Tells a client nothing but what was decided.
#[derive(Clone)]
struct Tell;

impl<Req> Respond<Req, Seen, Infallible> for Tell {
    type Context = ();

    fn context(&self, _: &Req) {}

    fn reject(&self, (): (), why: Rejection) -> Result<Seen, Infallible> {
        Ok(match why {
            Rejection::Limited(decision) if decision.is_by_fallback() => Seen::RefusedHere,
            Rejection::Limited(_) => Seen::Refused,
            Rejection::Unavailable(_) => Seen::Unavailable,
            other => panic!("{other:?}"),
        })
    }

    fn admit(&self, (): (), decision: &Decision, seen: &mut Seen) {
        *seen = match (decision.is_unchecked(), decision.is_by_fallback()) {
            (true, _) => Seen::Unchecked,
            (_, true) => Seen::AdmittedHere,
            _ => Seen::Admitted,
        };
    }
}

impl Mode {
    /// What a client may see that Redis did not decide about.
    pub(crate) fn allows(self, seen: Seen) -> bool {
        match self {
            Self::Open => seen == Seen::Unchecked,
            Self::Closed => seen == Seen::Unavailable,
            Self::Fallback => matches!(seen, Seen::AdmittedHere | Seen::RefusedHere),
        }
    }
}

fn window() -> FixedWindow {
    FixedWindow::new(Quota::per_day(LIMIT as u32)).anchored()
}

/// A limit like that of the service, which is called `user`.
pub(crate) fn limit(name: &str) -> Limit {
    Limit::new(name, window())
}

/// One node of a service that allows each user [`LIMIT`].
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) store: RedisStore,
    service: BoxCloneSyncService<String, Seen, Infallible>,
}

impl Node {
    pub(crate) fn new(mode: Mode, store: RedisStoreBuilder) -> Self {
        // What is said again without asking Redis says nothing about Redis.
        let store = store.repeat_refusals(false).build().unwrap();
        let user = |user: &String| Key::verbatim(user.clone());
        let layer = RateLimitLayer::new("user", window(), user, store.clone()).respond_with(Tell);
        let handler = service_fn(async |_: String| Ok(Seen::Unchecked));
        let service = match mode {
            Mode::Open => BoxCloneSyncService::new(layer.layer(handler)),
            Mode::Closed => BoxCloneSyncService::new(layer.fail_closed().layer(handler)),
            Mode::Fallback => BoxCloneSyncService::new(layer.fallback(MemoryStore::new()).layer(handler)),
        };
        Self { store, service }
    }

    /// A request by this user, and what came of it.
    pub(crate) async fn ask(&self, user: &str) -> Seen {
        self.service.clone().oneshot(user.to_owned()).await.unwrap()
    }

    /// Requests one after another that Redis does not answer, each of which finds that out after so long.
    pub(crate) async fn ask_in_vain(&self, mode: Mode, user: &str, after: impl IntoIterator<Item = Duration>) {
        for after in after {
            let begun = Instant::now();
            let seen = self.ask(user).await;
            took(begun, after);
            assert!(mode.allows(seen), "{mode:?}: {seen:?}");
        }
    }

    /// As many requests one after another, and how often each thing was seen.
    pub(crate) async fn ask_times(&self, user: &str, times: u64) -> Tally {
        let mut tally = Tally::default();
        for _ in 0..times {
            tally.count(self.ask(user).await);
        }
        tally
    }

    /// Waits until Redis is asked again, which nobody has to ask for.
    pub(crate) async fn is_back(&self) {
        eventually("Redis is asked again", async || self.store.health().is_up()).await;
    }
}

/// How often each thing was seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tally(BTreeMap<Seen, u64>);

impl Tally {
    pub(crate) fn count(&mut self, seen: Seen) {
        *self.0.entry(seen).or_default() += 1;
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (seen, times) in &other.0 {
            *self.0.entry(*seen).or_default() += times;
        }
    }

    pub(crate) fn of(&self, seen: Seen) -> u64 {
        self.0.get(&seen).copied().unwrap_or_default()
    }

    /// How many were decided about without Redis, which is as that mode says.
    pub(crate) fn without_redis(&self, mode: Mode) -> u64 {
        self.is_as_chosen(mode);
        self.by_nobody().map(|(_, times)| times).sum()
    }

    /// Whatever was decided about without Redis is as that mode says.
    pub(crate) fn is_as_chosen(&self, mode: Mode) {
        let allowed = self.by_nobody().all(|(seen, _)| mode.allows(*seen));
        assert!(allowed, "{mode:?}: {self:?}");
    }

    fn by_nobody(&self) -> impl Iterator<Item = (&Seen, &u64)> {
        let by_redis = |seen: &Seen| matches!(seen, Seen::Admitted | Seen::Refused);
        self.0.iter().filter(move |(seen, _)| !by_redis(seen))
    }
}

/// What every user's key begins with.
const KEY: &str = "rate_limit:fixed_window:user:86400000000:anchored:";

/// The key under which a user is counted.
pub(crate) fn key_of(user: &str) -> String {
    format!("{KEY}{user}")
}

/// What a user has been charged, by the word of Redis.
pub(crate) fn charged(redis: &mut Connection, user: &str) -> u64 {
    let state = stored(redis, &key_of(user));
    state.map_or(0, |state| state.split_once(' ').unwrap().1.parse().unwrap())
}

/// What all users together have been charged.
pub(crate) fn charged_to_all(redis: &mut Connection) -> u64 {
    let keys = keys(redis);
    let users = keys.iter().filter_map(|key| key.strip_prefix(KEY));
    users.map(|user| charged(redis, user)).sum()
}

/// The store is exact: what is left for a user is admitted, and not one more. And every key ends by itself.
pub(crate) async fn is_exact(node: &Node, redis: &mut Connection, user: &str) {
    let before = charged(redis, user);
    let mut expected = Tally::default();
    (before..LIMIT).for_each(|_| expected.count(Seen::Admitted));
    (0..10).for_each(|_| expected.count(Seen::Refused));
    assert_eq!(node.ask_times(user, LIMIT - before + 10).await, expected);
    assert_eq!(charged(redis, user), LIMIT);
    every_key_ends(redis);
}

/// Waits until so many replicas have all that was written before. They are only waited for by one who has written something
/// himself, and hear of everything in order.
pub(crate) fn is_replicated(redis: &mut Connection, key: &str, replicas: u64) {
    ask::<()>(redis, &format!("SET {key} heard PX 60000"));
    assert_eq!(ask::<u64>(redis, &format!("WAIT {replicas} 0")), replicas);
}
