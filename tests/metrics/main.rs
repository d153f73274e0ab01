//! What is measured: exactly what has happened, under the names that docs/observability.md lists, and nothing else.

mod breaker;
mod decisions;
mod documented;
mod recorded;
mod redis;
mod waits;
