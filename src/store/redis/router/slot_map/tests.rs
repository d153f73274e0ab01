//! Tests of `slot_map`.

use super::*;

#[test]
fn a_redirect_without_a_host_stays_on_the_host_that_replied() {
    let from = Some("10.0.0.1");
    for (to, expected) in [
        ("10.0.0.2:7001", Some(("10.0.0.2", 7001))),
        ("::1:7001", Some(("::1", 7001))),
        (":7001", Some(("10.0.0.1", 7001))),
        ("?:7001", Some(("10.0.0.1", 7001))),
        ("10.0.0.2", None),
        ("10.0.0.2:", None),
        ("10.0.0.2:70000", None),
    ] {
        assert_eq!(redirect_address(to, from), expected, "{to}");
    }
    assert_eq!(redirect_address(":7001", None), None);
}

/// The expected slots are those of CLUSTER KEYSLOT.
#[test]
fn slots_are_those_of_redis() {
    assert_eq!(crc16(b"123456789"), 0x31c3);
    for (key, slot) in [
        ("", 0),
        ("foo", 12_182),
        ("{foo}bar", 12_182),
        ("x{foo}{bar}", 12_182),
        ("foo{}{bar}", 8363),
        ("foo{{bar}}zap", 4015),
        ("}{foo}", 12_182),
    ] {
        assert_eq!(Slot::of(key), Slot(slot), "{key}");
    }
}
