//! The value of a header.

use http::{HeaderValue, Request};
use tollgate::{ApiKey, ClientIp, Cookie, Header, HttpMethod, KeyError, KeyExtractor, QueryParam};

use crate::keys::{digest, error, key, request};

fn with_value(value: impl AsRef<[u8]>) -> Request<()> {
    let value = HeaderValue::from_bytes(value.as_ref()).unwrap();
    Request::builder().header("x-user-id", value).body(()).unwrap()
}

#[test]
fn a_header_is_counted_by_its_value() {
    let cases = [
        (Header::new("x-user-id"), "x-user-id:12345"),
        (Header::new("X-User-ID"), "x-user-id:12345"),
        (Header::new("x-user-id").label("user"), "user:12345"),
        (Header::try_new("x-user-id").unwrap(), "x-user-id:12345"),
    ];
    for (header, text) in cases {
        assert_eq!(key(&header, &request(&[("X-USER-ID", "12345"), ("x-user", "1")])), text);
    }
}

#[test]
fn a_missing_or_empty_header_is_named_in_the_error() {
    let header = Header::new("X-User-Id").label("user");
    for headers in [&[][..], &[("x-user-id", "")], &[("x-user", "1")]] {
        let missing = KeyError::missing("the `x-user-id` header");
        assert_eq!(header.extract(&request(headers)), Err(missing));
        assert_eq!(
            error(&header, &request(headers)),
            "the request lacks the `x-user-id` header"
        );
    }
}

#[test]
fn equal_header_lines_are_one_value_and_different_ones_an_error() {
    let header = Header::new("x-user-id");
    let two = |one, other| request(&[("x-user-id", one), ("x-user-id", other)]);
    assert_eq!(key(&header, &two("1", "1")), "x-user-id:1");
    // One line is one value, even if it is a list.
    assert_eq!(key(&header, &two("1,2", "1,2")), "x-user-id:1,2");
    let ambiguous = KeyError::ambiguous("the `x-user-id` header");
    for (one, other) in [("1", "2"), ("2", "1"), ("1", ""), ("", "1"), ("a", "A")] {
        assert_eq!(header.extract(&two(one, other)), Err(ambiguous.clone()));
        let with_default = header.clone().or("anonymous");
        assert_eq!(with_default.extract(&two(one, other)), Err(ambiguous.clone()));
    }
    let three = request(&[("x-user-id", "1"), ("x-user-id", "1"), ("x-user-id", "2")]);
    assert_eq!(
        error(&header, &three),
        "the request has different values for the `x-user-id` header"
    );
    assert_eq!(error(&header, &two("", "")), "the request lacks the `x-user-id` header");
}

#[test]
fn no_header_produces_the_key_of_another_extractor() {
    let peer: std::net::SocketAddr = "192.0.2.1:4711".parse().unwrap();
    let mut request = request(&[("authorization", "Bearer secret")]);
    request.extensions_mut().insert(peer);
    let others = [
        ("ip", key(&ClientIp::peer(), &request)),
        ("apikey", key(&ApiKey::bearer(), &request)),
        ("method", key(&HttpMethod, &request)),
    ];
    for (name, other) in others {
        let (label, value) = other.split_once(':').unwrap();
        assert_eq!(label, name);
        request.headers_mut().insert(name, value.parse().unwrap());
        for header in [Header::new(name), Header::new(&name.to_uppercase())] {
            assert_eq!(key(&header, &request), format!("header/{other}"));
        }
        request.headers_mut().insert("x-user-id", value.parse().unwrap());
        assert_eq!(
            key(&Header::new("x-user-id").label(name), &request),
            format!("header/{other}")
        );
    }
}

#[test]
fn no_header_label_is_that_of_a_parameter_or_a_cookie() {
    let mut request = request(&[("cookie", "a=1"), ("x-user-id", "1")]);
    *request.uri_mut() = "/?a=1".parse().unwrap();
    for other in [key(&QueryParam::new("a"), &request), key(&Cookie::new("a"), &request)] {
        let (label, _) = other.split_once(':').unwrap();
        let header = Header::new("x-user-id").label(label);
        assert_eq!(key(&header, &request), format!("header/{other}"));
    }
}

#[test]
fn a_short_safe_value_is_kept() {
    for value in ["0", "AZaz09-_.~@+=,|/", "user@example.com", &"a".repeat(64)] {
        assert_eq!(
            key(&Header::new("x-user-id"), &with_value(value)),
            format!("x-user-id:{value}")
        );
    }
}

#[test]
fn a_long_or_unsafe_value_is_digested() {
    let (longer, ten_megabytes) = ("a".repeat(65), "a".repeat(10_000_000));
    let values: [&[u8]; 16] = [
        b" ",
        b"a b",
        b"\t",
        b"a:b",
        b":",
        b"(a)",
        b"{a}",
        b"[::1]",
        b"#",
        b"a%",
        b"a\"b",
        "na\u{ef}ve".as_bytes(),
        b"na\xefve",
        b"\xff",
        longer.as_bytes(),
        ten_megabytes.as_bytes(),
    ];
    for value in values {
        let text = format!("x-user-id:#{}", digest(value));
        assert_eq!(key(&Header::new("x-user-id"), &with_value(value)), text);
    }
}

#[test]
fn no_client_can_send_the_digest_of_another_value() {
    let sent = format!("#{}", digest("a:b"));
    let text = format!("x-user-id:#{}", digest(&sent));
    assert_eq!(key(&Header::new("x-user-id"), &with_value(&sent)), text);
}
