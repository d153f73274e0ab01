//! The systems of the tables, in their order: their names and their algorithms.

use Algorithm::{FixedWindow, SlidingCounter, SlidingLog, TokenBucket};

/// A limiter in one configuration.
pub struct System {
    /// In results.csv.
    pub id: &'static str,
    /// In the tables and figures.
    pub name: &'static str,
    pub algorithm: Algorithm,
    /// Whether it differs from another system only while Redis fails.
    pub is_failure_mode: bool,
}

impl System {
    pub fn by_id(id: &str) -> Option<&'static Self> {
        ALL.iter().find(|system| system.id == id)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    FixedWindow,
    SlidingLog,
    SlidingCounter,
    TokenBucket,
}

impl Algorithm {
    pub fn name(self) -> &'static str {
        match self {
            Self::FixedWindow => "fixed window",
            Self::SlidingLog => "sliding log",
            Self::SlidingCounter => "sliding counter",
            Self::TokenBucket => "token bucket",
        }
    }
}

const fn system(id: &'static str, name: &'static str, algorithm: Algorithm) -> System {
    System {
        id,
        name,
        algorithm,
        is_failure_mode: false,
    }
}

const fn failure_mode(id: &'static str, name: &'static str, algorithm: Algorithm) -> System {
    System {
        id,
        name,
        algorithm,
        is_failure_mode: true,
    }
}

/// In the order of the tables: by algorithm, ours first.
pub static ALL: [System; 18] = [
    system("tollgate_sliding_log", "tollgate", SlidingLog),
    failure_mode("tollgate_sliding_log_fallback", "tollgate, `.fallback(..)`", SlidingLog),
    failure_mode(
        "tollgate_sliding_log_fail_closed",
        "tollgate, `.fail_closed()`",
        SlidingLog,
    ),
    system(
        "tollgate_sliding_log_in_memory",
        "tollgate, a `MemoryStore` in each node",
        SlidingLog,
    ),
    system("tollgate_sliding_counter", "tollgate", SlidingCounter),
    system("tollgate_fixed_window", "tollgate", FixedWindow),
    system(
        "tollgate_fixed_window_leased",
        "tollgate, leases of 100 ms",
        FixedWindow,
    ),
    system("check_then_increment", "naive: GET, INCR, EXPIRE", FixedWindow),
    system("local_sync", "local counts, synchronised every 100 ms", FixedWindow),
    system("axum_limit_fixed_window", "axum-limit", FixedWindow),
    system("limitador_redis", "limitador, Redis storage", FixedWindow),
    system("limitador_cached", "limitador, cached Redis storage", FixedWindow),
    system("rate_limiter_flexible", "rate-limiter-flexible", FixedWindow),
    failure_mode(
        "rate_limiter_flexible_insured",
        "rate-limiter-flexible, insurance limiter",
        FixedWindow,
    ),
    system("tollgate_token_bucket", "tollgate", TokenBucket),
    system("lua_token_bucket", "naive: a Lua script", TokenBucket),
    system("axum_limit_token_bucket", "axum-limit", TokenBucket),
    system("governor", "governor, in each node", TokenBucket),
];
