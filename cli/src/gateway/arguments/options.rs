//! What there is to choose.

use std::{net::SocketAddr, path::PathBuf};

use http::uri::Authority;
use tollgate::RedisStore;
use tracing::level_filters::LevelFilter;

use crate::bounds::Timeouts;

pub(crate) struct Options {
    pub(crate) rules: PathBuf,
    pub(crate) listen: SocketAddr,
    /// The built-in one, if none is given.
    pub(crate) upstream: Option<Authority>,
    pub(crate) store: Place,
    pub(crate) on_store_failure: OnStoreFailure,
    pub(crate) admin: Option<SocketAddr>,
    pub(crate) timeouts: Timeouts,
    pub(crate) log: LevelFilter,
    pub(crate) limited: bool,
}

/// Where to count.
pub(crate) enum Place {
    Memory,
    Redis(Box<RedisStore>),
}

#[derive(Clone, Copy, Default)]
pub(crate) enum OnStoreFailure {
    #[default]
    Open,
    Closed,
    Local,
}
