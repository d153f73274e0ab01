//! Traces of a decision: one span, open until the request is admitted or rejected, with keys as digests. And the log events.

mod documented;
mod limiter;
mod requests;
mod spans;
