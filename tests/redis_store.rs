//! The Redis store and its Lua script, on real servers with injected faults.

mod conformance;
mod fallback;
mod hazards;
mod limiter;
mod parity;
mod processes;
mod redis;
mod script;
mod support_works;
