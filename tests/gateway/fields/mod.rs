//! Every field of a rules file, over HTTP through a gateway, to a service and on a Redis.
//!
//! A `Case` has rules, requests, their responses, and the final state in Redis.

mod algorithms;
mod case;
mod exempt;
mod keys;
mod limit;
mod outcomes;
mod reference;
mod scope;
mod timing;
mod trust;
