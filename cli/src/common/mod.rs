//! What several subcommands share.

pub(crate) mod address;
pub(crate) mod busiest;
pub(crate) mod failure;
pub(crate) mod grouped;
pub(crate) mod key_state;
pub(crate) mod listening;
pub(crate) mod log;
pub(crate) mod output;
pub(crate) mod redis;
pub(crate) mod rules;
pub(crate) mod runtime;
pub(crate) mod signals;
pub(crate) mod store;
pub(crate) mod unique;
