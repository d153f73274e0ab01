//! The Redis store and its Lua program, on real servers that fail in every way.

mod fallback;
mod hazards;
mod limiter;
mod parity;
mod processes;
mod program;
mod redis;
mod support_works;
mod vectors;
