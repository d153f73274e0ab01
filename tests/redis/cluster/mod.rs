//! The store on a cluster.

mod fixture;
mod groups;
mod node_down;
mod nodes;
