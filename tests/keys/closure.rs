//! Closures, and everything that they can return.

use http::Request;
use tollgate::{Key, KeyError, KeyExtractor};

use crate::keys::{key, request};

#[test]
fn a_closure_can_return_a_key() {
    let by_path = |request: &Request<()>| Key::named("path", request.uri().path());
    let request = Request::get("/search?q=1").body(()).unwrap();
    assert_eq!(key(&by_path, &request), "path:/search");
}

#[test]
fn a_closure_can_exempt_a_request() {
    let by_host = |request: &Request<()>| Some(Key::named("tenant", request.uri().host()?));
    let request = |uri| Request::get(uri).body(()).unwrap();
    assert_eq!(
        key(&by_host, &request("https://acme.example.com/")),
        "tenant:acme.example.com"
    );
    assert_eq!(by_host.extract(&request("/")), Ok(None));
}

fn by_cookie(request: &Request<()>) -> Result<Option<Key>, KeyError> {
    let cookie = request.headers().get("cookie").ok_or(KeyError::missing("a cookie"))?;
    Ok((cookie != "admin").then(|| Key::named("cookie", cookie.len())))
}

#[test]
fn a_closure_can_return_an_error() {
    assert_eq!(key(&by_cookie, &request(&[("cookie", "12345")])), "cookie:5");
    assert_eq!(by_cookie.extract(&request(&[("cookie", "admin")])), Ok(None));
    assert_eq!(by_cookie.extract(&request(&[])), Err(KeyError::missing("a cookie")));
}

#[test]
fn a_closure_can_return_a_key_or_an_error() {
    let strict = |request: &Request<()>| match request.uri().port_u16() {
        Some(port) => Ok(Key::named("port", port)),
        None => Err(KeyError::not_provided("port", "give one")),
    };
    let request = |uri| Request::get(uri).body(()).unwrap();
    assert_eq!(key(&strict, &request("http://localhost:80/")), "port:80");
    assert_eq!(
        crate::keys::error(&strict, &request("/")),
        "there is no port to count requests by: give one"
    );
}

#[test]
fn a_closure_accepts_any_request_type() {
    let even = |number: &u64| number.is_multiple_of(2).then_some(Key::GLOBAL);
    assert_eq!([even.extract(&1), even.extract(&2)], [Ok(None), Ok(Some(Key::GLOBAL))]);
}
