//! The limiters that are compared: each decides about requests of one key, by the limit of `limits.rs`.

mod axum_limit;
mod check_then_increment;
mod governor;
mod limitador;
mod local_sync;
mod lua_token_bucket;
mod tollgate;

use std::{
    pin::Pin,
    time::{Duration, SystemTime},
};

use crate::answer::Answer;

type Decision = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// A limiter in the process of a node.
pub struct Limiter(Box<dyn Fn() -> Decision>);

impl Limiter {
    fn new<F, D>(decide: F) -> Self
    where
        F: Fn() -> D + 'static,
        D: Future<Output = Answer> + Send + 'static,
    {
        Self(Box::new(move || Box::pin(decide())))
    }

    pub fn decide(&self) -> Decision {
        (self.0)()
    }
}

/// Starts a limiter by the name that `systems.rs` has for it. `None` if it runs in another kind of process.
pub async fn start(name: &str, redis: &str) -> Option<Limiter> {
    Some(match name {
        "tollgate_fixed_window" => tollgate::fixed_window(redis).await,
        "tollgate_fixed_window_leased" => tollgate::fixed_window_leased(redis).await,
        "tollgate_sliding_log" => tollgate::sliding_log(redis).await,
        "tollgate_sliding_log_fail_closed" => tollgate::sliding_log_fail_closed(redis).await,
        "tollgate_sliding_log_fallback" => tollgate::sliding_log_fallback(redis).await,
        "tollgate_sliding_log_in_memory" => tollgate::sliding_log_in_memory(redis).await,
        "tollgate_sliding_counter" => tollgate::sliding_counter(redis).await,
        "tollgate_token_bucket" => tollgate::token_bucket(redis).await,
        "check_then_increment" => check_then_increment::start(redis).await,
        "lua_token_bucket" => lua_token_bucket::start(redis).await,
        "local_sync" => local_sync::start(redis).await,
        "governor" => governor::start(redis).await,
        "axum_limit_fixed_window" => axum_limit::fixed_window(redis).await,
        "axum_limit_token_bucket" => axum_limit::token_bucket(redis).await,
        "limitador_redis" => limitador::redis(redis).await,
        "limitador_cached" => limitador::cached(redis).await,
        _ => return None,
    })
}

/// The time since 1970 by the clock of this machine.
fn unix_time() -> Duration {
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    time.expect("a clock after 1970")
}
