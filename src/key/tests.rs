//! Tests of `key`.

use super::*;

#[test]
fn an_ipv4_key_equals_the_formatted_address() {
    for octet in 0..=255 {
        let address = Ipv4Addr::new(octet, 0, 255 - octet, octet / 3);
        assert_eq!(Key::ipv4(address).as_str(), format!("ip:{address}"));
    }
}

#[test]
fn joined_keys_may_exceed_the_stack() {
    for len in [0, 1, 20, 21, 22, 200] {
        let long = Key::verbatim(format!("label:{}", "x".repeat(len)));
        let joined = Key::joined(&[long.clone(), Key::GLOBAL, long.clone()]);
        assert_eq!(joined.as_str(), format!("{long}:(global):{long}"));
    }
}
