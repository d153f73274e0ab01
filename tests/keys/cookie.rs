//! The value of a cookie.

use http::{HeaderValue, Request};
use tollgate::{Cookie, Header, KeyError, KeyExtractor, QueryParam};

use crate::keys::{digest, error, key, request};

fn with(cookies: &str) -> Request<()> {
    request(&[("cookie", cookies)])
}

#[track_caller]
fn session(cookies: &str) -> String {
    key(&Cookie::new("session"), &with(cookies))
}

#[test]
fn a_cookie_is_counted_by_its_value() {
    for cookies in [
        "session=8f3a",
        "theme=dark; session=8f3a",
        "session=8f3a; theme=dark",
        "theme=dark;session=8f3a;",
        "  session = 8f3a  ; theme=dark",
        "\tsession=8f3a",
        ";;; session=8f3a",
        // Neither longer nor shorter names match, nor other cases.
        "sessions=1; sess=2; Session=3; xsession=4; session=8f3a",
        "theme; session=8f3a",
        "session; session=8f3a",
        "theme=\"session=1\"; session=8f3a",
        "=session=1; session=8f3a",
    ] {
        assert_eq!(session(cookies), "cookie/session:8f3a", "{cookies}");
    }
}

#[test]
fn quotes_around_a_value_are_removed() {
    assert_eq!(session("session=\"8f3a\""), "cookie/session:8f3a");
    assert_eq!(session("session= \"8f3a\" ; theme=dark"), "cookie/session:8f3a");
    for odd in ["\"8f3a", "8f3a\"", "\"", "8f\"3a", "'8f3a'", "\"\"8f3a\"", "\" 8f3a\""] {
        let value = match odd {
            "\"\"8f3a\"" => "\"8f3a",
            "\" 8f3a\"" => " 8f3a",
            odd => odd,
        };
        assert_eq!(
            session(&format!("session={odd}")),
            format!("cookie/session:#{}", digest(value)),
            "{odd}"
        );
    }
}

#[test]
fn every_encoding_of_a_cookie_is_the_same_cookie() {
    for cookies in [
        "session=8f%33a",
        "session=%38%66%33%61",
        "session=%22%38f3a%22",
        "sessi%6Fn=8f3a",
        "sessi%6fn=8f3a; session=8f%33a",
    ] {
        assert_eq!(session(cookies), "cookie/session:8f3a", "{cookies}");
    }
    // A plus is no space, an incomplete escape is text, and a value is decoded once.
    for (cookies, value) in [("session=a+b", "a+b"), ("session=a%2Bb", "a+b")] {
        assert_eq!(session(cookies), format!("cookie/session:{value}"), "{cookies}");
    }
    for (cookies, value) in [
        ("session=100%", "100%"),
        ("session=%zz", "%zz"),
        ("session=%2541", "%41"),
        ("session=a%3Bb", "a;b"),
    ] {
        let text = format!("cookie/session:#{}", digest(value));
        assert_eq!(session(cookies), text, "{cookies}");
    }
    // A name may contain a percent sign itself.
    let text = format!("#{}:1", digest("cookie/a%20b"));
    assert_eq!(key(&Cookie::new("a%20b"), &with("a%20b=1")), text);
}

#[test]
fn any_value_is_a_key() {
    assert_eq!(session("session=a=b=="), "cookie/session:a=b==");
    for value in ["a b", "a:b", "\u{e9}", "#8f3a"] {
        assert_eq!(
            session(&format!("session={value}")),
            format!("cookie/session:#{}", digest(value)),
            "{value}"
        );
    }
    let bytes = HeaderValue::from_bytes(b"theme=\xff; session=\xff\xfe").unwrap();
    let request = Request::builder().header("cookie", bytes).body(()).unwrap();
    let text = format!("cookie/session:#{}", digest(b"\xff\xfe"));
    assert_eq!(key(&Cookie::new("session"), &request), text);
}

fn lines(one: &str, other: &str) -> Request<()> {
    request(&[("cookie", one), ("cookie", other)])
}

#[test]
fn equal_cookies_are_one_value() {
    for (one, other) in [
        ("theme=dark", "session=8f3a"),
        ("", "session=8f3a"),
        ("session=8f3a", "session=8f3a"),
        ("theme=dark; session=8f3a; a=b", "session=\"8f3a\"; session= 8f3a "),
        ("session=8f3a; Session=1; session", "sessions=2"),
    ] {
        let text = key(&Cookie::new("session"), &lines(one, other));
        assert_eq!(text, "cookie/session:8f3a", "{one} | {other}");
    }
}

#[test]
fn different_cookies_are_an_error_that_names_no_value() {
    let ambiguous = KeyError::ambiguous("the cookie `session`");
    let cookie = Cookie::new("session");
    for (one, other) in [
        ("session=1; session=2", ""),
        ("session=2; session=1", ""),
        ("session=1", "session=2"),
        ("theme=dark; session=1; a=b", "session=1; session=3"),
        ("session=1", "sessi%6Fn=2"),
        ("session=1; session=%32", ""),
        ("session=", "session=1"),
        ("session=1; session=\"\"", ""),
    ] {
        let request = lines(one, other);
        assert_eq!(cookie.extract(&request), Err(ambiguous.clone()), "{one} | {other}");
        let with_default = cookie.clone().or("anonymous");
        assert_eq!(
            with_default.extract(&request),
            Err(ambiguous.clone()),
            "{one} | {other}"
        );
    }
    let text = "the request has different values for the cookie `session`";
    assert_eq!(ambiguous.to_string(), text);
}

#[test]
fn a_missing_or_empty_cookie_is_named_in_the_error() {
    let missing = KeyError::missing("the cookie `session`");
    let cookie = Cookie::new("session");
    for cookies in [
        "",
        ";",
        "=",
        "session",
        "session=",
        "session= ",
        "session=\"\"",
        "session=; session=\"\"",
        "Session=8f3a",
        "theme=session=8f3a",
        "session:8f3a",
        "theme=dark, session=8f3a",
    ] {
        assert_eq!(cookie.extract(&with(cookies)), Err(missing.clone()), "{cookies}");
    }
    let set = request(&[("set-cookie", "session=8f3a")]);
    assert_eq!(error(&cookie, &set), "the request lacks the cookie `session`");
    assert_eq!(error(&cookie, &request(&[])), "the request lacks the cookie `session`");
}

#[test]
fn a_default_key_replaces_a_missing_cookie() {
    let cookie = Cookie::new("session").or(Header::new("x-user-id")).or("anonymous");
    for (headers, text) in [
        (&[("cookie", "session=1"), ("x-user-id", "2")][..], "cookie/session:1"),
        (&[("cookie", "session="), ("x-user-id", "2")], "x-user-id:2"),
        (&[("cookie", "session=")], "~anonymous"),
        (&[("cookie", "session=~anonymous")], "cookie/session:~anonymous"),
    ] {
        assert_eq!(key(&cookie, &request(headers)), text);
    }
}

#[test]
fn no_cookie_produces_the_key_of_another_extractor() {
    let request = Request::get("/?session=8f3a")
        .header("cookie", "session=8f3a")
        .header("session", "8f3a")
        .body(())
        .unwrap();
    let keys = [
        key(&Cookie::new("session"), &request),
        key(&QueryParam::new("session"), &request),
        key(&Header::new("session"), &request),
        key(&Header::new("cookie"), &request),
    ];
    let texts = [
        "cookie/session:8f3a",
        "query/session:8f3a",
        "session:8f3a",
        "cookie:session=8f3a",
    ];
    assert_eq!(keys, texts);
}
