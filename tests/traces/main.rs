//! Traces of a decision: one span, open until the request is admitted or rejected, with keys as digests. And the log events.

mod documented;
#[cfg(feature = "redis")]
mod leases;
mod limiter;
mod requests;
mod spans;
