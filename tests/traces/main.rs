//! What traces show of a decision: one span, open for as long as it takes, with keys as digests. And what is logged.

mod documented;
mod limiter;
mod requests;
mod spans;
