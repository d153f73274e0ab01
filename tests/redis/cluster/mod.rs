//! The store on a cluster.

mod fixture;
mod groups;
mod leases;
mod node_down;
mod nodes;
