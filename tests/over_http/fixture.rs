//! A server, a client, and each store on a clock of the test's.

pub(crate) use support::{
    each_store::{NOW, TestStore, on_both_stores},
    http::{NOTHING, Reply, Server},
    patience::yielding,
};
