//! The span of a limiter's call, also of one that Redis decides or fails to decide.

use std::time::Duration;

use tokio::task::yield_now;
use tollgate::{CallKey, Global, Key, LeakyBucket, Limiter, Quota, Tier};

use support::memory::store_at_zero;

use crate::spans::{Span, listen, of};

const SECOND: Duration = Duration::from_secs(1);

fn outcomes(spans: &[Span]) -> Vec<String> {
    let outcome = |span: &Span| {
        let recorded = span.recorded().into_iter();
        recorded
            .filter_map(|(field, value)| (field == "outcome").then_some(value))
            .collect()
    };
    spans.iter().map(outcome).collect()
}

#[tokio::test]
async fn a_check_has_a_span_and_a_peek_has_none() {
    listen();
    let limiter = Limiter::fixed_window("calls", Quota::per_minute(2), store_at_zero().0).tier(Tier::fixed_window(
        "calls-all",
        Quota::per_minute(9),
        Global,
    ));
    let user = Key::named("user", "ann");
    for cost in [1, 2, 3] {
        let Ok(_) = limiter.check_n(&user, cost).await;
    }
    let Ok(_) = limiter.peek(&user).await;
    let Ok(_) = limiter.reset(&user).await;
    let spans = of("calls,calls-all");
    assert_eq!(outcomes(&spans), ["admitted", "limited", "impossible"]);
    assert!(spans.iter().all(|span| !span.is_open()));
    let keys = format!("{},{}", user.digest(), Key::GLOBAL.digest());
    assert!(spans.iter().all(|span| span.recorded().contains(&("keys", &keys))));
}

#[tokio::test]
async fn a_span_is_open_while_a_call_is_delayed() {
    listen();
    let (store, clock) = store_at_zero();
    let limiter = Limiter::new(
        Tier::new("mails", LeakyBucket::new(Quota::per_second(1)).capacity(2), CallKey),
        store,
    );
    let Ok(_) = limiter.wait(&Key::GLOBAL, SECOND).await;
    let held = tokio::spawn(async move { limiter.wait(&Key::GLOBAL, SECOND).await.unwrap().admits() });
    yield_now().await;
    let open = || of("mails").iter().map(Span::is_open).collect::<Vec<_>>();
    assert_eq!(
        (open(), outcomes(&of("mails"))),
        (vec![false, true], vec!["admitted".to_owned(); 2])
    );
    let entered = || of("mails")[1].entered;
    let before = entered();
    clock.advance(SECOND);
    assert!(held.await.unwrap());
    assert_eq!(open(), [false, false]);
    assert!(entered() > before);
}

#[cfg(feature = "redis")]
mod on_redis {
    use tollgate::{AsError, Fallback, FixedWindow, Limit, MemoryStore, RateLimitLayer};
    use tower::{BoxError, Layer, ServiceExt, service_fn};

    use super::*;
    use support::{cluster::Cluster, redis::RedisServer};

    /// Anchored, so that the window does not end at midnight.
    fn a_day() -> FixedWindow {
        FixedWindow::new(Quota::per_day(1)).anchored()
    }

    async fn pass<L>(layer: L) -> bool
    where
        L: Layer<tower::util::BoxCloneService<(), (), BoxError>>,
        L::Service: tower::Service<(), Response = (), Error = BoxError>,
    {
        let inner = service_fn(async |()| Ok(()));
        let service = layer.layer(tower::util::BoxCloneService::new(inner));
        service.oneshot(()).await.is_ok()
    }

    #[tokio::test]
    async fn a_span_records_the_outcome_of_a_store_failure() {
        listen();
        let mut server = RedisServer::start();
        let store = server.store().build().unwrap();
        let layer = || RateLimitLayer::new(Tier::new("lost", a_day(), Global), store.clone()).respond_with(AsError);
        assert!(pass(layer()).await);
        assert!(!pass(layer()).await);
        server.kill();
        // Another store, which has not cached a denial.
        let store = server.store().build().unwrap();
        let layer = || RateLimitLayer::new(Tier::new("lost", a_day(), Global), store.clone()).respond_with(AsError);
        assert!(pass(layer()).await);
        assert!(!pass(layer().fail_closed()).await);
        assert!(pass(layer().fallback(MemoryStore::new())).await);
        let limiter = |store| Limiter::new(Tier::new("lost", a_day(), CallKey), store);
        assert!(limiter(store.clone()).check(&Key::GLOBAL).await.is_err());
        let local = Limiter::new(
            Tier::new("lost", a_day(), CallKey),
            Fallback::new(store, MemoryStore::new()),
        );
        assert!(local.check(&Key::GLOBAL).await.unwrap().admits());
        let spans = of("lost");
        assert_eq!(
            outcomes(&spans),
            [
                "admitted",
                "limited",
                "failed_open",
                "failed_closed",
                "admitted",
                "failed_closed",
                "admitted"
            ]
        );
        let by_fallback = spans.iter().map(|span| span.recorded().contains(&("by", "fallback")));
        assert_eq!(
            by_fallback.collect::<Vec<_>>(),
            [false, false, false, false, true, false, true]
        );
        assert!(spans.iter().all(|span| !span.is_open() && span.entered > 0));
    }

    #[tokio::test]
    async fn a_span_records_the_limits_that_were_not_checked() {
        listen();
        let mut cluster = Cluster::start();
        let store = cluster.store().build().unwrap();
        let redis_key = |name: &str, key: &Key| store.redis_key(&Limit::new(name, a_day()), key);
        let nodes = cluster.primaries();
        let key_on = |node: usize, name: &str| cluster.key_on(nodes[node], |key| redis_key(name, key));
        let [up, down] = [key_on(0, "span-up"), key_on(1, "span-down")];
        cluster.kill_owner(cluster.slot_of(&redis_key("span-down", &down)));
        let extract = |key: Key| move |(): &()| key.clone();
        let layer = RateLimitLayer::new(Tier::new("span-up", a_day(), extract(up)), store)
            .tier(Tier::new("span-down", a_day(), extract(down)))
            .respond_with(AsError);
        assert!(pass(layer.clone()).await);
        assert!(!pass(layer).await);
        let spans = of("span-up,span-down");
        assert_eq!(outcomes(&spans), ["failed_open", "limited"]);
        for field in [("by", "store"), ("unchecked", "span-down")] {
            assert!(spans.iter().all(|span| span.recorded().contains(&field)), "{field:?}");
        }
    }
}
