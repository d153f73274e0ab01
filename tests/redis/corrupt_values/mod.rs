//! Foreign or corrupt values under the store's keys.

mod corruptions;
mod handling;
mod tiers;
