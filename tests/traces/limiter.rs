//! The span of a limiter's call, and of calls that Redis decides, or cannot.

use std::time::Duration;

use tokio::task::yield_now;
use tollgate::{FixedWindow, Key, LeakyBucket, Limiter, Quota};

use support::memory::still;

use crate::spans::{Span, listen, of};

const SECOND: Duration = Duration::from_secs(1);

fn outcomes(spans: &[Span]) -> Vec<String> {
    let outcome = |span: &Span| {
        let said = span.said().into_iter();
        said.filter_map(|(field, value)| (field == "outcome").then_some(value))
            .collect()
    };
    spans.iter().map(outcome).collect()
}

#[tokio::test]
async fn a_call_has_one_and_a_look_has_none() {
    listen();
    let limiter = Limiter::new("calls", FixedWindow::new(Quota::per_minute(2)), still().0)
        .shared_tier("calls-all", FixedWindow::new(Quota::per_minute(9)));
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
    assert!(spans.iter().all(|span| span.said().contains(&("keys", &keys))));
}

#[tokio::test]
async fn it_is_open_while_a_call_is_held() {
    listen();
    let (store, clock) = still();
    let limiter = Limiter::new("mails", LeakyBucket::new(Quota::per_second(1)).capacity(2), store);
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
    use tollgate::{AsError, Fallback, Global, MemoryStore, RateLimitLayer};
    use tower::{BoxError, Layer, ServiceExt, service_fn};

    use super::*;
    use support::redis::RedisServer;

    /// Anchored, so that no midnight ends it.
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
    async fn it_says_what_became_of_a_request_that_redis_could_not_decide() {
        listen();
        let mut server = RedisServer::start();
        let store = server.store().build().unwrap();
        let layer = || RateLimitLayer::new("lost", a_day(), Global, store.clone()).respond_with(AsError);
        assert!(pass(layer()).await);
        assert!(!pass(layer()).await);
        server.kill();
        // Another one, which has not been refused yet.
        let store = server.store().build().unwrap();
        let layer = || RateLimitLayer::new("lost", a_day(), Global, store.clone()).respond_with(AsError);
        assert!(pass(layer()).await);
        assert!(!pass(layer().fail_closed()).await);
        assert!(pass(layer().fallback(MemoryStore::new())).await);
        let limiter = |store| Limiter::new("lost", a_day(), store);
        assert!(limiter(store.clone()).check(&Key::GLOBAL).await.is_err());
        let local = Limiter::new("lost", a_day(), Fallback::new(store, MemoryStore::new()));
        assert!(local.check(&Key::GLOBAL).await.unwrap().admits());
        let spans = of("lost");
        assert_eq!(
            outcomes(&spans),
            [
                "admitted",
                "limited",
                "unchecked",
                "unavailable",
                "admitted",
                "unavailable",
                "admitted"
            ]
        );
        let by_fallback = spans.iter().map(|span| span.said().contains(&("by", "fallback")));
        assert_eq!(
            by_fallback.collect::<Vec<_>>(),
            [false, false, false, false, true, false, true]
        );
        assert!(spans.iter().all(|span| !span.is_open() && span.entered > 0));
    }
}
