//! Everybody together.

use super::{KeyError, KeyExtractor};
use crate::key::Key;

/// Everybody shares one limit. The key reads `global`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Global;

impl<Req> KeyExtractor<Req> for Global {
    fn extract(&self, _: &Req) -> Result<Option<Key>, KeyError> {
        Ok(Some(Key::GLOBAL))
    }
}
