//! Everybody together.

use super::{KeyError, KeyExtractor};
use crate::key::Key;

/// Everybody shares one limit. The key reads `global`.
///
/// It keeps a service up when many come at once, and is best [unlisted](crate::RateLimitLayer::unlisted): what is left of
/// it tells outsiders how busy the service is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Global;

impl<Req> KeyExtractor<Req> for Global {
    fn extract(&self, _: &Req) -> Result<Option<Key>, KeyError> {
        Ok(Some(Key::GLOBAL))
    }
}
