//! Several keys as one: per user and route, per tenant and method.

use super::{KeyError, KeyExtractor};
use crate::key::Key;

/// A tuple counts by all of its parts together, and exempts whom one of them exempts.
macro_rules! tuple {
    ($($extractor:ident),*) => {
        impl<Req, $($extractor: KeyExtractor<Req>),*> KeyExtractor<Req> for ($($extractor,)*) {
            #[allow(non_snake_case, reason = "a value beside its type")]
            fn extract(&self, request: &Req) -> Result<Option<Key>, KeyError> {
                let ($($extractor,)*) = self;
                $(let Some($extractor) = $extractor.extract(request)? else { return Ok(None) };)*
                Ok(Some(Key::joined(&[$($extractor),*])))
            }
        }
    };
}

tuple!(A, B);
tuple!(A, B, C);
tuple!(A, B, C, D);
