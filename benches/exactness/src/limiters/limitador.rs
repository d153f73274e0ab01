//! limitador: its limiter on its Redis storage, and on its storage that caches the counters of Redis in the node.

use std::{sync::Arc, time::Duration};

use limitador::{
    AsyncRateLimiter,
    limit::{Context, Limit, Namespace},
    storage::{
        AsyncCounterStorage,
        redis::{AsyncRedisStorage, CachedRedisStorageBuilder},
    },
};

use super::Limiter;
use crate::{
    answer::Answer,
    limits::{LIMIT, WINDOW},
};

/// Shorter than the default of a second, which would be as long as the window.
const FLUSHING_PERIOD: Duration = Duration::from_millis(100);

pub async fn redis(url: &str) -> Limiter {
    serve(Box::new(AsyncRedisStorage::new(url).await.expect("Redis is up")))
}

pub async fn cached(url: &str) -> Limiter {
    let storage = CachedRedisStorageBuilder::new(url).flushing_period(FLUSHING_PERIOD);
    serve(Box::new(storage.build().await.expect("Redis is up")))
}

fn serve(storage: Box<dyn AsyncCounterStorage>) -> Limiter {
    let limiter = AsyncRateLimiter::new_with_storage(storage);
    limiter.add_limit(Limit::new("service", LIMIT.into(), WINDOW.as_secs(), [], []));
    let limiter = Arc::new(limiter);
    Limiter::new(move || {
        let limiter = Arc::clone(&limiter);
        async move {
            let service: Namespace = "service".into();
            match limiter
                .check_rate_limited_and_update(&service, &Context::default(), 1)
                .await
            {
                Ok(result) if result.limited => Answer::Denied,
                Ok(_) => Answer::Admitted,
                Err(_) => Answer::Failed,
            }
        }
    })
}
