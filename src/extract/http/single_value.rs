//! The value of a request that occurs several times.

use super::super::KeyError;

/// The value, if all occurrences of it are equal; `None` if there is none, or if it is empty. `what` describes it, as in "the
/// cookie `session`".
///
/// Different values are an error, because handlers do not agree on the one that they use: a client could have the limit count one
/// and the handler use another. An empty value differs from all others, so that it cannot select the default key either.
pub(super) fn single_value<V: Default + PartialEq>(
    mut values: impl Iterator<Item = V>,
    what: impl FnOnce() -> String,
) -> Result<Option<V>, KeyError> {
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.any(|other| other != value) {
        return Err(KeyError::ambiguous(what()));
    }
    Ok((value != V::default()).then_some(value))
}
