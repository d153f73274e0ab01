//! Leases: units that this node has charged at once, and spends without asking Redis.

#[cfg(test)]
mod enumeration;
mod hot_keys;
mod key_leases;
mod lease_ask;
mod leases;
mod local_tiers;
mod returner;
#[cfg(test)]
mod simulation;

pub(crate) use self::{lease_ask::LeaseAsk, leases::Leases, local_tiers::LocalTiers};
