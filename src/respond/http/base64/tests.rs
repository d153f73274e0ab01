//! Tests of `base64`.

use super::*;

#[test]
fn bytes_are_encoded_like_the_examples_of_rfc_4648() {
    for (bytes, expected) in [
        ("", ""),
        ("f", "Zg=="),
        ("fo", "Zm8="),
        ("foo", "Zm9v"),
        ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ] {
        assert_eq!(padded(bytes.as_bytes()), expected.as_bytes());
        assert_eq!(unpadded(bytes.as_bytes()), expected.trim_end_matches('=').as_bytes());
    }
}
