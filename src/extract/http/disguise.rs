//! Headers that read like others.

use http::{HeaderMap, HeaderName};

/// Whether two names are one to a service that takes an underscore for a dash, as all do whose headers are variables.
pub(crate) fn reads_like(name: &str, other: &str) -> bool {
    let dashed = |byte: u8| if byte == b'_' { b'-' } else { byte };
    name.len() == other.len() && name.bytes().map(dashed).eq(other.bytes().map(dashed))
}

/// Removes the headers that this says.
pub(crate) fn remove_all(headers: &mut HeaderMap, which: impl Fn(&HeaderName) -> bool) {
    let names: Vec<_> = headers.keys().filter(|name| which(name)).cloned().collect();
    names.iter().for_each(|name| drop(headers.remove(name)));
}
