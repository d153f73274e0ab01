//! Closures, and everything that they can return.

use axum::Router;
use http::Request;
use tollgate::{Key, KeyError, KeyExtractor, MemoryStore, Quota, RateLimitLayer, key_fn};

use crate::keys::{key, request};

#[test]
fn a_closure_can_return_a_key() {
    let by_path = |request: &Request<()>| Key::named("path", request.uri().path());
    let request = Request::get("/search?q=1").body(()).unwrap();
    assert_eq!(key(&by_path, &request), "path:/search");
}

#[test]
fn a_closure_without_the_type_of_its_request() {
    let tenant = |request: &Request<()>, label| Key::named(label, request.uri().path());
    let by_tenant = key_fn(|request| tenant(request, "tenant"));
    assert_eq!(key(&by_tenant, &request(&[])), "tenant:/");

    // The type of the body is inferred from the router.
    let by_method = key_fn(|request| Some(Key::named("method", request.method())));
    let limit = RateLimitLayer::token_bucket("method", Quota::per_minute(10), by_method, MemoryStore::new());
    let _: Router = Router::new().layer(limit);
}

#[test]
fn a_closure_that_returns_none_has_no_key() {
    let by_host = |request: &Request<()>| Some(Key::named("tenant", request.uri().host()?));
    let request = |uri| Request::get(uri).body(()).unwrap();
    assert_eq!(
        key(&by_host, &request("https://acme.example.com/")),
        "tenant:acme.example.com"
    );
    let missing = KeyError::missing("the key that it is counted by");
    assert_eq!(by_host.extract(&request("/")), Err(missing.clone()));
    assert_eq!(by_host.extract_optional(&request("/")), Err(missing));
    assert_eq!(
        by_host.or("anonymous").extract(&request("/")),
        Ok(Key::verbatim("~anonymous"))
    );
    assert_eq!(by_host.optional().extract_optional(&request("/")), Ok(None));
}

fn by_cookie(request: &Request<()>) -> Result<Option<Key>, KeyError> {
    let cookie = request.headers().get("cookie").ok_or(KeyError::missing("a cookie"))?;
    Ok((cookie != "none").then(|| Key::named("cookie", cookie.len())))
}

#[test]
fn a_closure_can_return_an_error() {
    assert_eq!(key(&by_cookie, &request(&[("cookie", "12345")])), "cookie:5");
    let missing = KeyError::missing("the key that it is counted by");
    assert_eq!(by_cookie.extract(&request(&[("cookie", "none")])), Err(missing));
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
    let parity = |number: &u64| Key::named("parity", number % 2);
    assert_eq!([1, 2].map(|number| key(&parity, &number)), ["parity:1", "parity:0"]);
}
