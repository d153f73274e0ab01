//! One Redis: the connections to it, and whether it is worth asking.

mod breaker;
mod lane;
mod lanes;
mod sentinels;
mod way;

use std::sync::Arc;

use self::lanes::Lanes;
pub(super) use self::{
    breaker::{Breaker, Probing},
    lane::Line,
    sentinels::Sentinels,
    way::Way,
};
use super::error::StoreError;

pub(super) struct Server {
    lanes: Lanes,
    pub(super) breaker: Arc<Breaker>,
}

impl Server {
    pub(super) fn new(address: &str, way: Way, lanes: usize) -> Self {
        Self {
            lanes: Lanes::new(way, lanes),
            breaker: Arc::new(Breaker::new(address)),
        }
    }

    pub(super) fn address(&self) -> &Arc<str> {
        self.breaker.address()
    }

    /// A connection to it.
    pub(super) async fn line(&self) -> Result<Line, StoreError> {
        let line = self.lanes.line().await;
        line.map_err(|error| StoreError::before_sending(self.address(), error))
    }
}
