//! governor, the limiter of tower_governor: a bucket (GCRA) in the memory of each node.

use std::{num::NonZero, sync::Arc};

use governor::{DefaultDirectRateLimiter, Quota};

use super::Limiter;
use crate::{
    answer::Answer,
    limits::{LIMIT, WINDOW},
};

pub async fn start(_: &str) -> Limiter {
    let limit = NonZero::new(LIMIT).expect("at least one request");
    let quota = Quota::with_period(WINDOW / LIMIT).expect("a period").allow_burst(limit);
    let limiter = Arc::new(DefaultDirectRateLimiter::direct(quota));
    Limiter::new(move || {
        let answer = match limiter.check() {
            Ok(()) => Answer::Admitted,
            Err(_) => Answer::Denied,
        };
        std::future::ready(answer)
    })
}
