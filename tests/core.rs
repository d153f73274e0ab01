//! Limits, keys, rules and the service, in this process; with the feature `redis`, on servers where that makes a difference.

mod architecture;
mod clock;
#[cfg(feature = "axum")]
mod compile_errors;
mod documents;
mod fuzz_seeds;
mod invalid;
mod keys;
mod laws;
mod memory;
mod rules;
mod rules_reload;
mod sanitize_forwarded;
mod service;
