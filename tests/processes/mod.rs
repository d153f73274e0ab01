//! Several processes on one Redis, which count and queue as one.

mod admitted;
mod departures;
