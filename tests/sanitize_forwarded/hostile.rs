//! Malformed and oversized headers.

use http::{HeaderName, HeaderValue};

use super::{assert_sanitized, from, headers, sanitize, trusting};

const X_FORWARDED_FOR: &str = "x-forwarded-for";

#[test]
fn kept_values_are_unchanged_byte_for_byte() {
    for (lines, list) in [
        (&[&b"\xff\xfe"[..]][..], &b"\xff\xfe, 10.0.0.1"[..]),
        (&[b"caf\xc3\xa9", b"\xc3"], b"caf\xc3\xa9, \xc3, 10.0.0.1"),
        (&[b""], b", 10.0.0.1"),
        (&[b"", b"", b""], b", , , 10.0.0.1"),
        (&[b"192.0.2.1,\t, ,"], b"192.0.2.1,\t, ,, 10.0.0.1"),
        (&[b"\"192.0.2.1", b"\\"], b"\"192.0.2.1, \\, 10.0.0.1"),
        (&[b"192.0.2.1", b"192.0.2.1"], b"192.0.2.1, 192.0.2.1, 10.0.0.1"),
    ] {
        let sent: Vec<_> = lines.iter().map(|line| (X_FORWARDED_FOR, *line)).collect();
        let mut passed = from("10.0.0.1", &sent);
        sanitize(&trusting(""), &mut passed);
        assert_eq!(headers(&passed), [(X_FORWARDED_FOR.to_owned(), list.to_vec())]);
    }
}

#[test]
fn many_lines_and_long_lines() {
    let rules = trusting("headers = [\"x-plan\"]");
    let (many, long) = (["192.0.2.1"; 2_000], "192.0.2.1,".repeat(1_000_000));
    for lines in [&many[..], &[&long]] {
        let sent: Vec<_> = lines
            .iter()
            .flat_map(|line| [(X_FORWARDED_FOR, line), ("x-plan", line)])
            .collect();
        let list = format!("{}, 10.0.0.1", lines.join(", "));
        assert_sanitized(
            &rules,
            from("10.0.0.1", &sent),
            &[(X_FORWARDED_FOR, &list), ("x-plan", lines[0])],
        );
        assert_sanitized(&rules, from("203.0.113.9", &sent), &[(X_FORWARDED_FOR, "203.0.113.9")]);
    }
}

/// The request already has as many headers as it can hold.
#[test]
fn a_full_header_map_allows_replacements_but_no_additions() {
    let rules = trusting("headers = [\"x-plan\"]");
    for (sent, passed_on) in [
        (&[][..], &[][..]),
        (
            &[(X_FORWARDED_FOR, "192.0.2.1")],
            &[(X_FORWARDED_FOR, "192.0.2.1, 10.0.0.1")],
        ),
        (&[("forwarded", "for=192.0.2.1")], &[(X_FORWARDED_FOR, "10.0.0.1")]),
        (&[("x-plan", "free"), ("x-plan", "pro")], &[("x-plan", "pro")]),
    ] {
        let mut full = from("10.0.0.1", sent);
        let mut expected = headers(&from("10.0.0.1", passed_on));
        for number in 0.. {
            let name = HeaderName::try_from(format!("x-{number}")).unwrap();
            let value = HeaderValue::from_static("filled");
            if full.headers_mut().try_insert(&name, value).is_err() {
                break;
            }
            expected.push((name.to_string(), b"filled".to_vec()));
        }
        expected.sort();
        sanitize(&rules, &mut full);
        assert_eq!(headers(&full), expected, "{sent:?}");
    }
}
