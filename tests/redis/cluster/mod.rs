//! On a cluster: keys spread over slots, and slots over nodes.

mod fixture;
mod groups;
mod nodes;
