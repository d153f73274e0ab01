//! Several processes that share limits and queues on one Redis.

mod admitted;
mod departures;
mod leases;
