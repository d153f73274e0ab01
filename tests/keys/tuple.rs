//! Tuples: several keys as one.

use http::Request;
use tollgate::{ClientIp, FromExtension, Global, Header, HttpMethod, Key, KeyError, KeyExtractor};

use crate::keys::{key, request, with_extension};

fn path(request: &Request<()>) -> Key {
    Key::new(request.uri().path().to_owned())
}

fn absent(_: &Request<()>) -> Option<Key> {
    None
}

fn broken(_: &Request<()>) -> Result<Key, KeyError> {
    Err(KeyError::missing("everything"))
}

fn search() -> Request<()> {
    let peer: std::net::SocketAddr = "[2001:db8::1]:4711".parse().unwrap();
    let request = Request::get("/api/search").header("x-user-id", "123");
    request.extension(peer).body(()).unwrap()
}

#[test]
fn a_tuple_key_has_all_parts() {
    let user = || Header::new("x-user-id").label("user");
    let cases = [
        (key(&(user(), path), &search()), "user:123:/api/search"),
        (key(&(path, user()), &search()), "/api/search:user:123"),
        (
            key(&(user(), HttpMethod, path), &search()),
            "user:123:method:GET:/api/search",
        ),
        (
            key(&("all", user(), HttpMethod, path), &search()),
            "~all:user:123:method:GET:/api/search",
        ),
        (
            key(&(ClientIp::peer(), path), &search()),
            "ip:[2001:db8::]/64:/api/search",
        ),
        (
            key(&(ClientIp::peer().ipv6_prefix(128), path), &search()),
            "ip:[2001:db8::1]:/api/search",
        ),
    ];
    for (key, text) in cases {
        assert_eq!(key, text);
    }
}

#[test]
fn ambiguous_parts_are_parenthesized() {
    let user = || Header::new("x-user-id").label("user");
    let text = |text: &'static str| move |_: &Request<()>| Key::new(text);
    let verbatim = |text: &'static str| move |_: &Request<()>| Key::verbatim(text);
    let cases = [
        (key(&(Global, user()), &search()), "(global):user:123"),
        (
            key(&((user(), HttpMethod), path), &search()),
            "(user:123:method:GET):/api/search",
        ),
        (
            key(&(user(), (HttpMethod, path)), &search()),
            "user:123:(method:GET:/api/search)",
        ),
        (key(&(text(""), text("")), &search()), "():()"),
        (key(&(text("a:"), text(":a")), &search()), "a::(:a)"),
        (key(&(text("a:b:c"), text("a")), &search()), "(a:b:c):(a)"),
        (key(&(text("/a:b"), text("/a:b")), &search()), "(/a:b):(/a:b)"),
        (key(&(verbatim("~a:b"), verbatim("(a:b)")), &search()), "(~a:b):((a:b))"),
        (
            key(&(verbatim("ip:[::1]:a"), verbatim("ip:[::1")), &search()),
            "(ip:[::1]:a):(ip:[::1)",
        ),
    ];
    for (key, text) in cases {
        assert_eq!(key, text);
    }
}

#[test]
fn a_tuple_is_not_counted_if_one_part_is_optional_and_absent() {
    let (request, optional) = (search(), absent.optional());
    assert_eq!((optional, path).extract_optional(&request), Ok(None));
    assert_eq!((path, optional).extract_optional(&request), Ok(None));
    assert_eq!((path, optional, path).extract_optional(&request), Ok(None));
    assert_eq!((path, path, path, optional).extract_optional(&request), Ok(None));
    assert_eq!((path, (path, optional)).extract_optional(&request), Ok(None));
    let both = (path.optional(), path);
    assert_eq!(both.extract_optional(&request).map(|key| key.is_some()), Ok(true));
    // The other part is not optional.
    assert!((optional, broken).extract_optional(&request).is_ok());
    assert!((broken, optional).extract_optional(&request).is_err());
    assert!((path.optional(), absent).extract_optional(&request).is_err());
}

#[test]
fn a_tuple_returns_the_error_of_a_part() {
    let (request, lacks) = (request(&[]), Err(KeyError::missing("everything")));
    assert_eq!((broken, path).extract(&request), lacks);
    assert_eq!((path, broken).extract(&request), lacks);
    assert_eq!((path, path, broken).extract(&request), lacks);
    assert_eq!((path, path, path, broken).extract(&request), lacks);
    let lacks = Err(KeyError::missing("the `x-user-id` header"));
    assert_eq!((HttpMethod, Header::new("x-user-id"), broken).extract(&request), lacks);
}

#[test]
fn a_tuple_can_be_a_default_key() {
    let user = || FromExtension::new(|id: &u64| Key::named("user", id)).or((HttpMethod, path));
    assert_eq!(key(&user(), &with_extension(1_u64)), "user:1");
    assert_eq!(key(&user(), &search()), "method:GET:/api/search");
    assert_eq!(key(&("all", user()), &search()), "~all:(method:GET:/api/search)");
}
