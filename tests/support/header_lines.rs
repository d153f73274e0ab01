//! Random, mostly malformed values of the headers that proxies set.

use proptest::{collection::vec, prelude::*, sample::select};

/// Fragments of valid values in random order, or random bytes.
pub fn any_line() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: &[&[u8]] = &[
        b"for=",
        b"For=",
        b"by=",
        b"proto=http",
        b"\"",
        b"\"",
        b",",
        b", ",
        b";",
        b"=",
        b"[",
        b"]",
        b":4711",
        b":\"",
        b"\\",
        b"unknown",
        b"session=",
        b"_a",
        b"10.0.0.1",
        b"10.0.0.2",
        b"192.0.2.7",
        b"203.0.113.9",
        b"fd00::2",
        b"2001:db8::1",
        b"::ffff:10.0.0.3",
        b"for=10.0.0.2",
        b"for=192.0.2.7",
        b"for=\"[fd00::2]\"",
        b", for=203.0.113.9",
        b"\xff",
        b" ",
        b"\t",
    ];
    let any_byte = any::<u8>().prop_filter("a control character", |byte| !byte.is_ascii_control());
    prop_oneof![
        4 => vec(select(PIECES), 0..12).prop_map(|pieces| pieces.concat()),
        1 => vec(any_byte, 0..40),
    ]
}
