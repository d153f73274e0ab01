//! One node of a cluster is down: the failure mode applies to the tiers on it, and the other tiers stay exact.

use std::{future::poll_fn, pin::Pin, task::Poll};

use tollgate::{
    CallKey, Charge, Charges, Decision, Fallback, FallbackDecision, FixedWindow, Global, Key, Limit, Limiter,
    ManualClock, MemoryStore, Operation, Quota, RateLimitLayer, RedisStore, Rejection, Respond, Store, StoreError,
    Tier,
};
use tower::{Layer, Service, ServiceExt, service_fn, util::BoxCloneService};

use super::fixture::{advance, remaining};
use support::{
    cluster::Cluster,
    redis::{DEADLINE, info, query, stored},
    wait::{eventually, yield_until},
};

const REQUESTS: u64 = 50;

/// A window that does not end during a test.
fn window(limit: u32) -> FixedWindow {
    FixedWindow::new(Quota::per_day(limit)).anchored()
}

/// A tier whose state is on a known node.
struct NodeTier {
    limit: Limit,
    key: Key,
}

impl NodeTier {
    /// The tier of a layer, with this quota a day.
    fn tier(&self, limit: u32) -> Tier<FixedWindow, impl Fn(&()) -> Key + Clone + Send + Sync + use<>> {
        let key = self.key.clone();
        Tier::new(self.name(), window(limit), move |(): &()| key.clone())
    }

    fn name(&self) -> &str {
        self.limit.name()
    }

    fn charge(&self) -> Charge {
        Charge::new(self.limit.clone(), self.key.clone())
    }

    /// The charges of this tier and another one.
    fn charges_with(&self, other: &Self) -> Charges {
        let mut charges = Charges::from(self.charge());
        charges.push(other.charge()).unwrap();
        charges
    }
}

/// A cluster of which one node is down, and a store that knows all of them.
struct Degraded {
    cluster: Cluster,
    store: RedisStore,
    clock: ManualClock,
    /// On the first node and on the second, which are up.
    user: NodeTier,
    tenant: NodeTier,
    /// On the node that is down.
    all: NodeTier,
}

impl Degraded {
    /// With these limits of the user, of the tenant and of all.
    fn new([user, tenant, all]: [u32; 3]) -> Self {
        let (mut cluster, clock) = (Cluster::start(), ManualClock::at(0));
        let store = cluster.store().clock(clock.clone()).build().unwrap();
        let nodes = cluster.primaries();
        let tier = |name: &str, limit: u32, node: usize| {
            let limit = Limit::new(name, window(limit));
            let key = cluster.key_on(nodes[node], |key| store.redis_key(&limit, key));
            NodeTier { limit, key }
        };
        let [user, tenant, all] = [tier("user", user, 0), tier("tenant", tenant, 1), tier("all", all, 2)];
        cluster.kill_owner(cluster.slot_of(&store.redis_key(&all.limit, &all.key)));
        Self {
            cluster,
            store,
            clock,
            user,
            tenant,
            all,
        }
    }

    fn memory(&self) -> MemoryStore {
        MemoryStore::builder().clock(self.clock.clone()).build()
    }

    /// The units charged to a tier, read from its node.
    fn charged(&self, tier: &NodeTier) -> u64 {
        let key = self.store.redis_key(&tier.limit, &tier.key);
        let state = stored(&mut self.cluster.client_of(self.cluster.slot_of(&key)), &key);
        state.map_or(0, |state| state.strip_prefix("0 ").unwrap().parse().unwrap())
    }
}

/// Responds with the decision, or with the rejection.
#[derive(Clone)]
struct Decided;

impl Respond<(), Option<Decision>, Rejection> for Decided {
    type Context = ();

    fn context(&self, (): &()) {}

    fn reject(&self, (): (), why: Rejection) -> Result<Option<Decision>, Rejection> {
        Err(why)
    }

    fn admit(&self, (): (), decision: &Decision, response: &mut Option<Decision>) {
        *response = Some(decision.without_receipt());
    }
}

/// The decisions about as many requests, and the rejections.
async fn send<L>(layer: L) -> (Vec<Decision>, Vec<Rejection>)
where
    L: Layer<BoxCloneService<(), Option<Decision>, Rejection>>,
    L::Service: Service<(), Response = Option<Decision>, Error = Rejection> + Clone,
{
    let service = layer.layer(BoxCloneService::new(service_fn(async |()| Ok(None))));
    let (mut admitted, mut rejected) = (Vec::new(), Vec::new());
    for _ in 0..REQUESTS {
        match service.clone().oneshot(()).await {
            Ok(decision) => admitted.push(decision.unwrap()),
            Err(why) => rejected.push(why),
        }
    }
    (admitted, rejected)
}

fn denial(why: &Rejection) -> &Decision {
    match why {
        Rejection::Limited(decision) => decision,
        other => panic!("{other:?}"),
    }
}

fn tiers(decision: &Decision) -> Vec<&str> {
    decision.tiers().iter().map(|tier| tier.limit().name()).collect()
}

fn unchecked(decision: &Decision) -> Vec<&str> {
    decision.unchecked_limits().map(Limit::name).collect()
}

#[tokio::test]
async fn fail_open_enforces_the_limits_on_the_other_nodes() {
    let degraded = Degraded::new([5, 3, 100]);
    let Degraded {
        store,
        user,
        tenant,
        all,
        ..
    } = &degraded;
    let layer = RateLimitLayer::new(all.tier(100), store.clone())
        .tier(user.tier(5))
        .respond_with(Decided);
    let (admitted, denied) = send(layer.clone()).await;
    assert_eq!((admitted.len(), denied.len()), (5, 45));
    for (decision, left) in admitted.iter().zip((0..5).rev()) {
        assert_eq!((tiers(decision), remaining(decision)), (vec!["user"], vec![left]));
        assert_eq!(unchecked(decision), ["all"]);
        assert!(!decision.is_unchecked() && !decision.is_by_fallback());
    }
    for why in &denied {
        assert_eq!(
            (tiers(denial(why)), unchecked(denial(why))),
            (vec!["user"], vec!["all"])
        );
    }
    assert_eq!(degraded.charged(user), 5);

    // The tiers that are checked are charged together or not at all.
    store.apply(Operation::Reset(user.charge().into())).await.unwrap();
    let (admitted, denied) = send(layer.tier(tenant.tier(3))).await;
    assert_eq!((admitted.len(), denied.len()), (3, 47));
    assert_eq!([user, tenant].map(|tier| degraded.charged(tier)), [3, 3]);
    assert!(admitted.iter().all(|decision| tiers(decision) == ["user", "tenant"]));
    assert!(denied.iter().all(|why| remaining(denial(why)) == [2, 0]));
}

/// A request without any tier that can be checked is unchecked as a whole.
#[tokio::test]
async fn fail_open_admits_requests_whose_nodes_are_all_down() {
    let Degraded {
        store,
        all,
        cluster: _cluster,
        ..
    } = Degraded::new([5, 5, 5]);
    let layer = RateLimitLayer::new(all.tier(5), store).respond_with(Decided);
    let (admitted, _) = send(layer).await;
    assert_eq!(admitted.len() as u64, REQUESTS);
    assert!(
        admitted
            .iter()
            .all(|decision| decision.is_unchecked() && unchecked(decision).is_empty())
    );
}

#[tokio::test]
async fn fail_closed_rejects_and_refunds() {
    let degraded = Degraded::new([5, 5, 100]);
    let Degraded { store, user, all, .. } = &degraded;
    let layer = RateLimitLayer::new(user.tier(5), store.clone())
        .tier(all.tier(100))
        .fail_closed()
        .respond_with(Decided);
    let (admitted, rejected) = send(layer).await;
    assert_eq!((admitted.len(), rejected.len() as u64), (0, REQUESTS));
    for why in rejected {
        let Rejection::Unavailable(error) = &why else {
            panic!("{why:?}");
        };
        assert!(!error.downcast_ref::<StoreError>().unwrap().may_have_charged());
    }
    assert_eq!(degraded.charged(user), 0);
}

/// A shadow neither denies nor fails a request.
#[tokio::test]
async fn a_shadow_that_cannot_be_checked_rejects_nothing() {
    let degraded = Degraded::new([5, 5, 1]);
    let Degraded {
        store,
        user,
        tenant,
        all,
        ..
    } = &degraded;
    let layer = |tier: &NodeTier| {
        RateLimitLayer::new(tier.tier(5), store.clone())
            .tier(all.tier(1).shadow())
            .respond_with(Decided)
    };
    let open = send(layer(user)).await;
    let closed = send(layer(tenant).fail_closed()).await;
    for (tier, (admitted, denied)) in [(user, open), (tenant, closed)] {
        assert_eq!((admitted.len(), denied.len()), (5, 45));
        assert_eq!(degraded.charged(tier), 5);
        for decision in admitted.iter().chain(denied.iter().map(denial)) {
            assert_eq!((tiers(decision), unchecked(decision)), (vec![tier.name()], vec!["all"]));
        }
    }
}

#[tokio::test]
async fn a_limiter_returns_the_error_and_refunds() {
    let degraded = Degraded::new([5, 5, 100]);
    let Degraded {
        cluster,
        store,
        user,
        all,
        ..
    } = &degraded;
    // A shared tier on the node that is down.
    let down = |limit: &Limit| cluster.slot_of(&store.redis_key(limit, &Key::GLOBAL));
    let owner = cluster.node_of(cluster.slot_of(&store.redis_key(&all.limit, &all.key)));
    let mut shared = (0..).map(|number| Limit::new(&format!("shared{number}"), window(100)));
    let shared = shared.find(|limit| cluster.node_of(down(limit)) == owner).unwrap();
    let limiter = Limiter::new(Tier::new(user.name(), window(5), CallKey), store.clone()).tier(Tier::new(
        shared.name(),
        window(100),
        Global,
    ));
    for _ in 0..REQUESTS {
        let errors = [
            limiter.check(&user.key).await.unwrap_err(),
            limiter.wait(&user.key, DEADLINE).await.unwrap_err(),
        ];
        assert!(errors.iter().all(|error| !error.may_have_charged()), "{errors:?}");
    }
    assert_eq!(degraded.charged(user), 0);
    assert!(limiter.peek(&user.key).await.is_err());
}

#[tokio::test]
async fn the_fallback_decides_about_the_tiers_of_the_node() {
    let degraded = Degraded::new([5, 5, 100]);
    let Degraded { store, user, all, .. } = &degraded;
    let memory = degraded.memory();
    let layer = RateLimitLayer::new(all.tier(100), store.clone())
        .tier(user.tier(5))
        .fail_closed()
        .fallback(memory.clone())
        .respond_with(Decided);
    let (admitted, denied) = send(layer).await;
    assert_eq!((admitted.len(), denied.len()), (5, 45));
    for (decision, n) in admitted.iter().zip(1..) {
        assert_eq!(tiers(decision), ["all", "user"]);
        assert_eq!(remaining(decision), [100 - n, 5 - n]);
        assert!(decision.is_by_fallback() && unchecked(decision).is_empty());
    }
    assert_eq!(degraded.charged(user), 5);
    let left = memory.acquire(&all.limit, &all.key, 0).remaining();
    assert_eq!((left, memory.len()), (95, 1));
}

/// If the fallback denies, the charges of the other nodes are refunded.
#[tokio::test]
async fn a_denial_of_the_fallback_refunds_the_other_nodes() {
    let degraded = Degraded::new([100, 100, 5]);
    let Degraded {
        store,
        user,
        tenant,
        all,
        ..
    } = &degraded;
    let layer = RateLimitLayer::new(user.tier(100), store.clone())
        .tier(all.tier(5))
        .tier(tenant.tier(100))
        .fallback(degraded.memory())
        .respond_with(Decided);
    let (admitted, denied) = send(layer).await;
    assert_eq!((admitted.len(), denied.len()), (5, 45));
    assert!(
        admitted
            .iter()
            .all(|decision| tiers(decision) == ["user", "all", "tenant"])
    );
    for decision in denied.iter().map(denial) {
        assert_eq!(tiers(decision), ["user", "all", "tenant"]);
        let outcomes = decision.tiers().iter().map(|tier| tier.verdict().outcome().name());
        assert_eq!(outcomes.collect::<Vec<_>>(), ["admitted", "limited", "admitted"]);
        assert_eq!(remaining(decision), [95, 0, 95]);
        assert!(decision.is_by_fallback());
    }
    assert_eq!([user, tenant].map(|tier| degraded.charged(tier)), [5, 5]);
}

/// Each charge is corrected in the store that made it.
#[tokio::test]
async fn a_receipt_of_two_stores_is_split() {
    let degraded = Degraded::new([100, 100, 10]);
    let Degraded { store, user, all, .. } = &degraded;
    let memory = degraded.memory();
    let fallback = Fallback::new(store.clone(), memory.clone());
    let acquire = async |cost| {
        let charges = all.charges_with(user).with_cost(cost);
        fallback
            .apply(Operation::Acquire(charges))
            .await
            .unwrap()
            .take_receipt()
            .unwrap()
    };
    let left = || memory.acquire(&all.limit, &all.key, 0).remaining();
    let (refunded, settled) = (acquire(2).await, acquire(3).await);
    assert_eq!((left(), degraded.charged(user)), (5, 5));
    let decision = fallback.apply(Operation::Refund(refunded)).await.unwrap();
    assert_eq!(
        (tiers(&decision), remaining(&decision)),
        (vec!["all", "user"], vec![7, 97])
    );
    assert_eq!((left(), degraded.charged(user)), (7, 3));
    let settled = settled.settled_for("user", 1).settled_for("all", 4);
    let decision = fallback.apply(Operation::Settle(settled)).await.unwrap();
    assert_eq!(
        (tiers(&decision), remaining(&decision)),
        (vec!["all", "user"], vec![6, 99])
    );
    assert_eq!((left(), degraded.charged(user)), (6, 1));
}

/// The refund after a denial of the fallback is completed if the deadline passes, or the request is dropped.
#[tokio::test]
async fn a_refund_after_a_denial_of_the_fallback_is_completed() {
    let degraded = Degraded::new([100, 100, 5]);
    let Degraded {
        store,
        user,
        all,
        cluster,
        ..
    } = &degraded;
    let memory = degraded.memory();
    assert!(memory.acquire(&all.limit, &all.key, 5).outcome().admits());
    let fallback = Fallback::new(store.clone(), memory);
    // Connects to the nodes.
    assert!(
        !fallback
            .apply(Operation::Acquire(user.charges_with(all)))
            .await
            .unwrap()
            .admits()
    );
    let redis = &mut cluster.client_of(cluster.slot_of(&store.redis_key(&user.limit, &user.key)));
    for is_dropped in [false, true] {
        let mut request = fallback.apply(Operation::Acquire(user.charges_with(all)));
        assert!(poll(&mut request).await.is_pending());
        yield_until(async || degraded.charged(user) == 1).await;
        advance(DEADLINE / 2).await;
        query::<()>(redis, "CLIENT PAUSE 600000 WRITE");
        yield_until(async || {
            assert!(poll(&mut request).await.is_pending());
            info(redis, "clients", "blocked_clients:") == 1
        })
        .await;
        if is_dropped {
            drop(request);
        } else {
            // The refund has a deadline of its own.
            advance(DEADLINE / 2).await;
            let Poll::Ready(denial) = poll(&mut request).await else {
                panic!("the denial waits for the refund beyond the deadline");
            };
            let denial = denial.unwrap();
            assert_eq!((denial.admits(), remaining(&denial)), (false, vec![99, 0]));
        }
        query::<()>(redis, "CLIENT UNPAUSE");
        eventually("the charge is refunded", async || degraded.charged(user) == 0).await;
    }
}

async fn poll(request: &mut FallbackDecision<RedisStore>) -> Poll<Result<Decision, StoreError>> {
    poll_fn(|context| Poll::Ready(Pin::new(&mut *request).poll(context))).await
}
