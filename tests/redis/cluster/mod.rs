//! The store on a cluster.

mod fixture;
mod groups;
mod nodes;
