//! Several processes that share limits and queues on one Redis.

mod admitted;
mod concurrency;
mod departures;
mod leases;
