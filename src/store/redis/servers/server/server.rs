//! A node, with its connection pool and its circuit breaker.

use std::sync::Arc;

use super::{breaker::Breaker, lane::Line, lanes::Lanes, way::Way};
use crate::store::redis::error::StoreError;

pub(crate) struct Server {
    lanes: Lanes,
    pub(crate) breaker: Arc<Breaker>,
}

impl Server {
    pub(crate) fn new(address: &str, way: Way, lanes: usize) -> Self {
        Self {
            lanes: Lanes::new(way, lanes),
            breaker: Arc::new(Breaker::new(address)),
        }
    }

    pub(crate) fn address(&self) -> &Arc<str> {
        self.breaker.address()
    }

    /// A connection to the node.
    pub(crate) async fn line(&self) -> Result<Line, StoreError> {
        let line = self.lanes.line().await;
        line.map_err(|error| StoreError::before_sending(self.address(), error))
    }
}
