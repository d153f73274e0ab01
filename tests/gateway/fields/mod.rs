//! Every field of a rules file, over HTTP through a gateway, to a service and on a Redis.
//!
//! What each field does is written down as a [`Case`]: rules, requests, what each is told, and what Redis holds in the end.

mod algorithms;
mod case;
mod exempt;
mod keys;
mod limit;
mod reference;
mod scope;
mod times;
mod trust;
