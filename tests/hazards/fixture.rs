//! A service behind a limit, its clients, and the assertions after a fault.

use std::{collections::BTreeMap, convert::Infallible, time::Duration};

use tokio::time::Instant;
use tollgate::{
    Decision, FixedWindow, Key, Limit, MemoryStore, Quota, RateLimitLayer, RedisStore, RedisStoreBuilder, Rejection,
    Respond, Tier, redis::Connection,
};
use tower::{Layer, ServiceExt, service_fn, util::BoxCloneSyncService};

use support::{
    log,
    redis::{RedisServer, keys, query, stored},
    wait::{assert_elapsed, eventually},
};

use crate::hazards::leaks::assert_keys_expire;

/// The limit per user, in a window that does not end during a test.
pub(crate) const LIMIT: u64 = 100;

/// The store's timeout for a new connection, shorter than the deadline of these tests.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The configured failure mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mode {
    Open,
    Closed,
    Fallback,
}

pub(crate) const MODES: [Mode; 3] = [Mode::Open, Mode::Closed, Mode::Fallback];

/// The response to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Response {
    /// Redis admitted the request.
    Admitted,
    /// Redis denied the request.
    Denied,
    /// The layer failed open: the request passed without a check.
    FailedOpen,
    /// The layer failed closed: the request was rejected because the store is unavailable.
    FailedClosed,
    /// The node's fallback store admitted the request.
    FallbackAdmitted,
    /// The node's fallback store denied the request.
    FallbackDenied,
}

/// A responder that returns only the decision.
#[derive(Clone)]
struct DecisionOnly;

impl<Req> Respond<Req, Response, Infallible> for DecisionOnly {
    type Context = ();

    fn context(&self, _: &Req) {}

    fn reject(&self, (): (), why: Rejection) -> Result<Response, Infallible> {
        Ok(match why {
            Rejection::Limited(decision) if decision.is_by_fallback() => Response::FallbackDenied,
            Rejection::Limited(_) => Response::Denied,
            Rejection::Unavailable(_) => Response::FailedClosed,
            other => panic!("{other:?}"),
        })
    }

    fn admit(&self, (): (), decision: &Decision, response: &mut Response) {
        *response = match (decision.is_unchecked(), decision.is_by_fallback()) {
            (true, _) => Response::FailedOpen,
            (_, true) => Response::FallbackAdmitted,
            _ => Response::Admitted,
        };
    }
}

impl Mode {
    /// Whether this is a valid response to a request that Redis did not decide.
    pub(crate) fn allows(self, response: Response) -> bool {
        match self {
            Self::Open => response == Response::FailedOpen,
            Self::Closed => response == Response::FailedClosed,
            Self::Fallback => matches!(response, Response::FallbackAdmitted | Response::FallbackDenied),
        }
    }
}

fn window() -> FixedWindow {
    FixedWindow::new(Quota::per_day(LIMIT as u32)).anchored()
}

/// A limit with the algorithm of the service, whose limit is named `user`.
pub(crate) fn limit(name: &str) -> Limit {
    Limit::new(name, window())
}

/// One node of a service with [`LIMIT`] per user.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) store: RedisStore,
    service: BoxCloneSyncService<String, Response, Infallible>,
}

impl Node {
    pub(crate) fn new(mode: Mode, store: RedisStoreBuilder) -> Self {
        // A cached denial would not reach Redis.
        let store = store.cache_denials(false).build().unwrap();
        let user = |user: &String| Key::verbatim(user.clone());
        let layer = RateLimitLayer::new(Tier::new("user", window(), user), store.clone()).respond_with(DecisionOnly);
        let handler = service_fn(async |_: String| Ok(Response::FailedOpen));
        let service = match mode {
            Mode::Open => BoxCloneSyncService::new(layer.layer(handler)),
            Mode::Closed => BoxCloneSyncService::new(layer.fail_closed().layer(handler)),
            Mode::Fallback => BoxCloneSyncService::new(layer.fallback(MemoryStore::new()).layer(handler)),
        };
        Self { store, service }
    }

    /// The response to a request by this user.
    pub(crate) async fn request(&self, user: &str) -> Response {
        self.service.clone().oneshot(user.to_owned()).await.unwrap()
    }

    /// Sends sequential requests that Redis does not answer, and asserts after how long each one fails.
    pub(crate) async fn requests_time_out(&self, mode: Mode, user: &str, after: impl IntoIterator<Item = Duration>) {
        for after in after {
            let begun = Instant::now();
            let response = self.request(user).await;
            assert_elapsed(begun, after);
            assert!(mode.allows(response), "{mode:?}: {response:?}");
        }
    }

    /// Sends sequential requests and counts the responses.
    pub(crate) async fn request_times(&self, user: &str, times: u64) -> Tally {
        let mut tally = Tally::default();
        for _ in 0..times {
            tally.count(self.request(user).await);
        }
        tally
    }

    /// Waits until the circuit breaker closes, which needs no request.
    pub(crate) async fn until_recovered(&self) {
        eventually("the circuit breaker is closed", async || self.store.health().is_up()).await;
    }
}

/// The number of each response.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tally(BTreeMap<Response, u64>);

impl Tally {
    pub(crate) fn count(&mut self, response: Response) {
        *self.0.entry(response).or_default() += 1;
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (response, times) in &other.0 {
            *self.0.entry(*response).or_default() += times;
        }
    }

    pub(crate) fn of(&self, response: Response) -> u64 {
        self.0.get(&response).copied().unwrap_or_default()
    }

    /// The number of requests that Redis did not decide; asserts that they were handled by this mode.
    pub(crate) fn without_redis(&self, mode: Mode) -> u64 {
        self.assert_mode(mode);
        self.not_by_redis().map(|(_, times)| times).sum()
    }

    /// Asserts that requests that Redis did not decide were handled by this mode.
    pub(crate) fn assert_mode(&self, mode: Mode) {
        let allowed = self.not_by_redis().all(|(response, _)| mode.allows(*response));
        assert!(allowed, "{mode:?}: {self:?}");
    }

    fn not_by_redis(&self) -> impl Iterator<Item = (&Response, &u64)> {
        let by_redis = |response: &Response| matches!(response, Response::Admitted | Response::Denied);
        self.0.iter().filter(move |(response, _)| !by_redis(response))
    }
}

/// The prefix of every user's key.
const KEY_PREFIX: &str = "rate_limit:fixed_window:user:86400000000:anchored:";

/// The Redis key of a user.
pub(crate) fn key_of(user: &str) -> String {
    format!("{KEY_PREFIX}{user}")
}

/// The units that Redis has charged a user.
pub(crate) fn charged(redis: &mut Connection, user: &str) -> u64 {
    let state = stored(redis, &key_of(user));
    state.map_or(0, |state| state.split_once(' ').unwrap().1.parse().unwrap())
}

/// The units that Redis has charged all users.
pub(crate) fn charged_to_all(redis: &mut Connection) -> u64 {
    let keys = keys(redis);
    let users = keys.iter().filter_map(|key| key.strip_prefix(KEY_PREFIX));
    users.map(|user| charged(redis, user)).sum()
}

/// Asserts that the user's remaining units are admitted and not one more, and that every key expires.
pub(crate) async fn assert_exact(node: &Node, redis: &mut Connection, user: &str) {
    let before = charged(redis, user);
    let mut expected = Tally::default();
    (before..LIMIT).for_each(|_| expected.count(Response::Admitted));
    (0..10).for_each(|_| expected.count(Response::Denied));
    assert_eq!(node.request_times(user, LIMIT - before + 10).await, expected);
    assert_eq!(charged(redis, user), LIMIT);
    assert_keys_expire(redis);
}

/// Waits until this many replicas have received all writes so far. WAIT only covers writes of the same connection, so this
/// writes a key first; replication preserves the order.
pub(crate) fn await_replication(redis: &mut Connection, key: &str, replicas: u64) {
    query::<()>(redis, &format!("SET {key} replicated PX 60000"));
    assert_eq!(query::<u64>(redis, &format!("WAIT {replicas} 0")), replicas);
}

/// The new log lines about this server: the level, and the message up to the first comma, colon or semicolon.
pub(crate) fn log_lines(server: &RedisServer) -> Vec<String> {
    let address = format!("127.0.0.1:{}", server.port());
    let lines = log::take(|line| line.field("address") == address);
    let beginning = |message: &str| message.split([',', ':', ';']).next().unwrap().to_owned();
    lines
        .iter()
        .map(|line| format!("{}: {}", line.level, beginning(line.field("message"))))
        .collect()
}
