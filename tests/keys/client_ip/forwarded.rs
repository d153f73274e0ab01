//! The `Forwarded` header of RFC 7239.

use http::header::FORWARDED;
use tollgate::ClientIp;

use super::fixture::{forwarded, key, request};

const PEER: &str = "10.0.0.1";

fn behind() -> ClientIp {
    ClientIp::trusted_proxies(["10.0.0.0/8", "fd00::/8"]).forwarded()
}

/// Both kinds of trust use the last proxy's element.
#[track_caller]
fn assert_client(lines: &[&str], client: &str) {
    for ip in [behind(), ClientIp::trusted_hops(1).forwarded()] {
        assert_eq!(forwarded(&ip, PEER, lines), format!("ip:{client}"), "{lines:?}");
    }
}

#[test]
fn the_forms_of_the_rfc() {
    let cases = [
        ("for=192.0.2.60;proto=http;by=203.0.113.43", "192.0.2.60"),
        ("For=\"[2001:db8:cafe::17]:4711\"", "[2001:db8:cafe::]/64"),
        ("for=\"[2001:db8:cafe::17]\"", "[2001:db8:cafe::]/64"),
        ("for=\"192.0.2.43:47011\"", "192.0.2.43"),
        ("for=\"192.0.2.43:_gazonk\"", "192.0.2.43"),
        ("for=\"[2001:db8:cafe::17]:_gazonk\"", "[2001:db8:cafe::]/64"),
        ("for=\"192.0.2.43\"", "192.0.2.43"),
        ("FOR=192.0.2.60", "192.0.2.60"),
        ("fOr=192.0.2.60;Proto=http", "192.0.2.60"),
        ("by=203.0.113.43;for=192.0.2.60", "192.0.2.60"),
        (
            "proto=https;by=\"_proxy\";for=\"192.0.2.60\";host=example.com",
            "192.0.2.60",
        ),
        ("for=192.0.2.43, for=192.0.2.60", "192.0.2.60"),
        ("for=192.0.2.43,for=\"192.0.2.60\"", "192.0.2.60"),
        ("for=\"[::ffff:192.0.2.60]:4711\"", "192.0.2.60"),
    ];
    for (line, client) in cases {
        assert_client(&[line], client);
    }
}

#[test]
fn the_client_is_the_rightmost_address_that_is_not_a_proxy() {
    let cases: [&[&str]; 5] = [
        &["for=198.51.100.7, for=10.0.0.2"],
        &["for=203.0.113.9, for=198.51.100.7;proto=https;by=10.0.0.2, for=10.0.0.2;by=10.0.0.1"],
        &["for=198.51.100.7, For=\"[fd00::1]:4711\", for=\"10.0.0.2:80\""],
        &["for=203.0.113.9", "for=198.51.100.7", "for=10.0.0.2"],
        &["for=203.0.113.9, for=198.51.100.7", "for=10.0.0.3, for=10.0.0.2"],
    ];
    for lines in cases {
        assert_eq!(forwarded(&behind(), PEER, lines), "ip:198.51.100.7", "{lines:?}");
    }
    assert_eq!(
        forwarded(&behind(), PEER, &["for=10.0.0.3, for=10.0.0.2"]),
        "ip:10.0.0.3"
    );
    assert_eq!(
        forwarded(&behind(), "203.0.113.9", &["for=198.51.100.7"]),
        "ip:203.0.113.9"
    );
}

#[test]
fn an_element_without_exactly_one_address_ends_the_chain() {
    let others = [
        "",
        ";",
        "for",
        "for=",
        "for=\"\"",
        "for=unknown",
        "for=\"unknown\"",
        "for=_hidden",
        "for=\"_SEVKISEK\"",
        "by=198.51.100.7",
        "proto=http",
        "host=198.51.100.7",
        "xfor=198.51.100.7",
        "for2=198.51.100.7",
        "198.51.100.7",
        "for:198.51.100.7",
        "for=198.51.100.7=",
        "for==198.51.100.7",
        "for=\"198.51.100.7",
        "for=198.51.100.7\"",
        "for=\"198.51.100.7\"\"",
        "for=\"[2001:db8::1\"",
        "for='198.51.100.7'",
        // An unbalanced quote: what precedes it would decide where the element begins.
        "for=\"198.51.100.7:4711\";host=a\"",
        "for=\"[2001:db8::1]:4711\";host=a\"",
        "for=\"[2001:db8::1]:4711\", host=\"a\"\"",
        // Which of the two the proxy wrote is unknown.
        "for=198.51.100.7;for=203.0.113.9",
        "for=198.51.100.7;for=198.51.100.7",
        "for=198.51.100.7;FOR=unknown",
        "for=;for=198.51.100.7",
    ];
    for other in others {
        for ip in [behind(), ClientIp::trusted_hops(1).forwarded()] {
            assert_eq!(forwarded(&ip, PEER, &[other]), "ip:10.0.0.1", "{other:?}");
        }
        let line = format!("{other}, for=10.0.0.2");
        assert_eq!(forwarded(&behind(), PEER, &[&line]), "ip:10.0.0.2", "{line:?}");
        let lines = ["for=203.0.113.9", other, "for=10.0.0.2"];
        assert_eq!(forwarded(&behind(), PEER, &lines), "ip:10.0.0.2", "{lines:?}");
    }
}

#[test]
fn nothing_on_the_left_hides_the_element_of_the_proxy() {
    let sent = [
        "\"",
        "for=\"",
        "for=\"203.0.113.9",
        "for=203.0.113.9;host=\"",
        "\"\"\"",
        "\\",
        "\\\"",
        "for=\"\\",
        "for=\"\\\"",
        "for=\"203.0.113.9, for=203.0.113.9",
        "for=\"a, b\"",
        "\"a, \"b",
        "for=203.0.113.9;",
        "for=",
        ";;;",
        ",,,",
        "",
    ];
    for sent in sent {
        for wrote in [
            "for=198.51.100.7",
            "For=\"198.51.100.7:4711\";proto=https",
            "by=\"_a\";for=198.51.100.7",
        ] {
            assert_client(&[&format!("{sent}, {wrote}")], "198.51.100.7");
            assert_client(&[&format!("{sent},{wrote}")], "198.51.100.7");
            assert_client(&[sent, wrote], "198.51.100.7");
        }
        let lines = [
            &format!("{sent}, for=\"198.51.100.7\""),
            "for=\"10.0.0.2\";host=\"a,b\"",
        ];
        assert_eq!(forwarded(&behind(), PEER, &lines), "ip:198.51.100.7", "{lines:?}");
    }
}

#[test]
fn bytes_that_are_not_utf8_matter_only_in_an_address() {
    let lines: [&[u8]; 4] = [
        b"\xff, for=198.51.100.7",
        b"for=\"\xff, for=198.51.100.7",
        b"for=203.0.113.9;host=\xff\xfe,for=198.51.100.7;proto=http",
        b"for=198.51.100.7;host=\xff",
    ];
    for line in lines {
        assert_eq!(key(&behind(), &request(PEER, &FORWARDED, [line])), "ip:198.51.100.7");
    }
    let line = b"for=\"198.51.100.7:\xff\"";
    assert_eq!(key(&behind(), &request(PEER, &FORWARDED, [line])), "ip:10.0.0.1");
}

#[test]
fn a_quoted_comma_does_not_separate_elements() {
    assert_client(&["for=198.51.100.7;host=\"a,for=203.0.113.9\""], "198.51.100.7");
    assert_client(
        &["for=203.0.113.9, host=\"a, for=203.0.113.9\";for=198.51.100.7"],
        "198.51.100.7",
    );
    assert_client(&["host=\"for=203.0.113.9,\";for=198.51.100.7"], "198.51.100.7");
}

/// A proxy may quote what the client sent, such as its host.
#[test]
fn a_quoted_semicolon_does_not_separate_pairs() {
    assert_client(&["for=198.51.100.7;host=\"a;for=203.0.113.9\""], "198.51.100.7");
    assert_client(&["host=\";for=203.0.113.9;\";for=198.51.100.7"], "198.51.100.7");
    assert_client(&["proto=https;host=\"a;for=203.0.113.9;\""], "10.0.0.1");
}

#[test]
fn an_escaped_quote_does_not_end_a_quoted_string() {
    assert_client(&[r#"for=198.51.100.7;host="a\",for=203.0.113.9;\"""#], "198.51.100.7");
    assert_client(&[r#"for=198.51.100.7;host="a\"b""#], "198.51.100.7");
    assert_client(&[r#"host="a\"b, c";for=198.51.100.7"#], "198.51.100.7");
    assert_client(&[r#"for=203.0.113.9, for=198.51.100.7;host="a\"b""#], "198.51.100.7");
    // The backslash itself may be escaped.
    assert_client(&[r#"for=203.0.113.9, for=198.51.100.7;host="a\\""#], "198.51.100.7");
    assert_client(
        &[r#"for=203.0.113.9, for=198.51.100.7;host="\\\";for=203.0.113.9;\\""#],
        "198.51.100.7",
    );
}
