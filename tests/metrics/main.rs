//! Metrics: exactly what happened, under the names that docs/observability.md lists, and nothing else.

mod circuit_breaker;
mod cluster;
mod decisions;
mod documented;
mod leases;
mod recorder;
mod redis;
mod waits;
