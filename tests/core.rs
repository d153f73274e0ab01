//! Limits, keys, rules and the service, in one process. With the feature `redis`, some tests also run on a Redis server.

mod architecture;
mod clock;
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
