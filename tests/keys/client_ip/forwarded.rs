//! What proxies write into `Forwarded`, by RFC 7239.

use http::header::FORWARDED;
use tollgate::ClientIp;

use super::fixture::{forwarded, key, request};

const PEER: &str = "10.0.0.1";

fn behind() -> ClientIp {
    ClientIp::behind(["10.0.0.0/8", "fd00::/8"]).forwarded()
}

/// Both kinds of trust take the last proxy's word.
#[track_caller]
fn believed(lines: &[&str], client: &str) {
    for ip in [behind(), ClientIp::hops(1).forwarded()] {
        assert_eq!(forwarded(&ip, PEER, lines), format!("ip:{client}"), "{lines:?}");
    }
}

#[test]
fn the_forms_of_the_standard() {
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
        believed(&[line], client);
    }
}

#[test]
fn the_client_is_the_first_from_the_right_who_is_not_a_proxy() {
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
fn what_does_not_say_one_address_is_not_believed() {
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
        // A quote too many: whatever stands before it would decide where the element begins.
        "for=\"198.51.100.7:4711\";host=a\"",
        "for=\"[2001:db8::1]:4711\";host=a\"",
        "for=\"[2001:db8::1]:4711\", host=\"a\"\"",
        // Nobody knows which of two the proxy wrote.
        "for=198.51.100.7;for=203.0.113.9",
        "for=198.51.100.7;for=198.51.100.7",
        "for=198.51.100.7;FOR=unknown",
        "for=;for=198.51.100.7",
    ];
    for other in others {
        for ip in [behind(), ClientIp::hops(1).forwarded()] {
            assert_eq!(forwarded(&ip, PEER, &[other]), "ip:10.0.0.1", "{other:?}");
        }
        let line = format!("{other}, for=10.0.0.2");
        assert_eq!(forwarded(&behind(), PEER, &[&line]), "ip:10.0.0.2", "{line:?}");
        let lines = ["for=203.0.113.9", other, "for=10.0.0.2"];
        assert_eq!(forwarded(&behind(), PEER, &lines), "ip:10.0.0.2", "{lines:?}");
    }
}

#[test]
fn nothing_on_the_left_swallows_what_the_proxy_wrote() {
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
            believed(&[&format!("{sent}, {wrote}")], "198.51.100.7");
            believed(&[&format!("{sent},{wrote}")], "198.51.100.7");
            believed(&[sent, wrote], "198.51.100.7");
        }
        let lines = [
            &format!("{sent}, for=\"198.51.100.7\""),
            "for=\"10.0.0.2\";host=\"a,b\"",
        ];
        assert_eq!(forwarded(&behind(), PEER, &lines), "ip:198.51.100.7", "{lines:?}");
    }
}

#[test]
fn bytes_that_are_not_text_matter_only_in_an_address() {
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
fn a_comma_in_quotes_does_not_part_elements() {
    believed(&["for=198.51.100.7;host=\"a,for=203.0.113.9\""], "198.51.100.7");
    believed(
        &["for=203.0.113.9, host=\"a, for=203.0.113.9\";for=198.51.100.7"],
        "198.51.100.7",
    );
    believed(&["host=\"for=203.0.113.9,\";for=198.51.100.7"], "198.51.100.7");
}

/// A proxy may quote what the client sent, such as its host.
#[test]
fn a_semicolon_in_quotes_does_not_part_pairs() {
    believed(&["for=198.51.100.7;host=\"a;for=203.0.113.9\""], "198.51.100.7");
    believed(&["host=\";for=203.0.113.9;\";for=198.51.100.7"], "198.51.100.7");
    believed(&["proto=https;host=\"a;for=203.0.113.9;\""], "10.0.0.1");
}

#[test]
fn an_escaped_quote_does_not_end_what_is_quoted() {
    believed(&[r#"for=198.51.100.7;host="a\",for=203.0.113.9;\"""#], "198.51.100.7");
    believed(&[r#"for=198.51.100.7;host="a\"b""#], "198.51.100.7");
    believed(&[r#"host="a\"b, c";for=198.51.100.7"#], "198.51.100.7");
    believed(&[r#"for=203.0.113.9, for=198.51.100.7;host="a\"b""#], "198.51.100.7");
    // The backslash itself may be escaped.
    believed(&[r#"for=203.0.113.9, for=198.51.100.7;host="a\\""#], "198.51.100.7");
    believed(
        &[r#"for=203.0.113.9, for=198.51.100.7;host="\\\";for=203.0.113.9;\\""#],
        "198.51.100.7",
    );
}
