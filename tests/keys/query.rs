//! Query parameters, decoded as for handlers.

use std::net::SocketAddr;

use http::Request;
use tollgate::{ApiKey, ClientIp, Header, KeyError, KeyExtractor, QueryParam};

use crate::keys::{digest, error, key};

fn request_with(query: &str) -> Request<()> {
    Request::get(format!("/search{query}")).body(()).unwrap()
}

#[track_caller]
fn tenant(query: &str) -> String {
    key(&QueryParam::new("tenant"), &request_with(query))
}

#[test]
fn a_parameter_is_counted_by_its_value() {
    for query in [
        "?tenant=acme",
        "?a=b&tenant=acme",
        "?tenant=acme&a=b",
        "?&&tenant=acme&",
        "?TENANT=x&tenants=y&ten=z&tenant=acme",
        "?a=tenant=x&tenant=acme",
    ] {
        assert_eq!(tenant(query), "query/tenant:acme", "{query}");
    }
}

#[test]
fn every_encoding_of_a_value_is_the_same_value() {
    for query in [
        "?tenant=%61cme",
        "?tenant=%61%63%6d%65",
        "?tenant=%61%63%6D%65",
        "?ten%61nt=acme",
    ] {
        assert_eq!(tenant(query), "query/tenant:acme", "{query}");
    }
    for query in ["?tenant=a+b", "?tenant=a%20b"] {
        assert_eq!(tenant(query), format!("query/tenant:#{}", digest("a b")), "{query}");
    }
    for (query, value) in [
        ("?tenant=a%2Bb", "a+b"),
        ("?tenant=a=b", "a=b"),
        ("?tenant=a%3Db", "a=b"),
        ("?tenant=a/b", "a/b"),
        ("?tenant=AcMe", "AcMe"),
    ] {
        assert_eq!(tenant(query), format!("query/tenant:{value}"), "{query}");
    }
    for (query, value) in [
        ("?tenant=gr%C3%B6%C3%9Fe", "größe"),
        ("?tenant=a%26tenant=b", "a&tenant=b"),
        ("?tenant=a;b", "a;b"),
        ("?tenant=100%", "100%"),
        ("?tenant=%zz", "%zz"),
        ("?tenant=%00", "\0"),
        // Handlers receive the replacement character for invalid UTF-8.
        ("?tenant=%FF", "\u{fffd}"),
    ] {
        assert_eq!(tenant(query), format!("query/tenant:#{}", digest(value)), "{query}");
    }
}

#[test]
fn equal_parameters_are_one_value() {
    for query in [
        "?tenant=acme&tenant=acme",
        "?tenant=acme&a=b&ten%61nt=%61cme&tenant=acme",
        // Other names, even if some services treat them as equal.
        "?tenant=acme&Tenant=x&tenant[]=x&tenant+=x&+tenant=x",
    ] {
        assert_eq!(tenant(query), "query/tenant:acme", "{query}");
    }
    let spaced = format!("query/tenant:#{}", digest("a b"));
    assert_eq!(tenant("?tenant=a+b&tenant=a%20b"), spaced);
}

#[test]
fn different_parameters_are_an_error_that_names_no_value() {
    let ambiguous = KeyError::ambiguous("the query parameter `tenant`");
    let param = QueryParam::new("tenant");
    for query in [
        "?tenant=a&tenant=b",
        "?tenant=b&tenant=a",
        "?tenant=a&tenant=a&tenant=b",
        "?tenant=b&ten%61nt=a",
        "?%74%65%6e%61%6E%74=b&tenant=a",
        "?tenant=a&tenant=A",
        "?tenant=a+b&tenant=a%2Bb",
        "?tenant=&tenant=acme",
        "?tenant=acme&tenant=",
        "?tenant&tenant=acme",
    ] {
        let request = request_with(query);
        assert_eq!(param.extract(&request), Err(ambiguous.clone()), "{query}");
        let with_default = param.clone().or("anonymous");
        assert_eq!(with_default.extract(&request), Err(ambiguous.clone()), "{query}");
    }
    let text = "the request has different values for the query parameter `tenant`";
    assert_eq!(ambiguous.to_string(), text);
    let spaced = QueryParam::new("first name");
    let request = request_with("?first+name=a&first%20name=b");
    assert_eq!(
        error(&spaced, &request),
        "the request has different values for the query parameter `first name`"
    );
}

#[test]
fn a_missing_or_empty_parameter_is_named_in_the_error() {
    let missing = KeyError::missing("the query parameter `tenant`");
    let param = QueryParam::new("tenant");
    for query in [
        "",
        "?",
        "?tenant",
        "?tenant=",
        "?tenant=&tenant=",
        "?tenant&tenant=",
        "?Tenant=acme",
        "?tenants=acme",
        "?a=tenant=acme",
    ] {
        assert_eq!(param.extract(&request_with(query)), Err(missing.clone()), "{query}");
    }
    let path = Request::get("/tenant=acme").body(()).unwrap();
    assert_eq!(error(&param, &path), "the request lacks the query parameter `tenant`");
}

#[test]
fn a_default_key_replaces_a_missing_parameter() {
    let param = QueryParam::new("tenant").or(QueryParam::new("team")).or("anonymous");
    for (query, text) in [
        ("?tenant=a&team=b", "query/tenant:a"),
        ("?team=b", "query/team:b"),
        ("?tenant=&team=b", "query/team:b"),
        ("?tenant=", "~anonymous"),
        ("?tenant=anonymous", "query/tenant:anonymous"),
        ("?tenant=~anonymous", "query/tenant:~anonymous"),
    ] {
        assert_eq!(key(&param, &request_with(query)), text, "{query}");
    }
    let mut request = request_with("");
    request
        .extensions_mut()
        .insert(SocketAddr::from(([192, 0, 2, 1], 4711)));
    assert_eq!(
        key(&QueryParam::new("tenant").or(ClientIp::peer()), &request),
        "ip:192.0.2.1"
    );
}

#[test]
fn a_parameter_name_can_be_any_text() {
    let name = "first name";
    let text = format!("#{}:acme", digest("query/first name"));
    for query in ["?first+name=acme", "?first%20name=acme"] {
        assert_eq!(key(&QueryParam::new(name), &request_with(query)), text);
    }
}

#[test]
fn no_parameter_produces_the_key_of_another_extractor() {
    let request = Request::get("/?ip=192.0.2.1&tenant=acme&apikey=secret&session=8f3a")
        .header("tenant", "acme")
        .header("query", "acme")
        .header("authorization", "Bearer secret")
        .body(())
        .unwrap();
    let keys = [
        key(&QueryParam::new("tenant"), &request),
        key(&QueryParam::new("ip"), &request),
        key(&QueryParam::new("apikey"), &request),
        key(&Header::new("tenant"), &request),
        key(&Header::new("query"), &request),
        key(&ApiKey::bearer(), &request),
    ];
    let secret = format!("apikey:{}", digest("secret"));
    assert_eq!(
        keys,
        [
            "query/tenant:acme",
            "query/ip:192.0.2.1",
            "query/apikey:secret",
            "tenant:acme",
            "query:acme",
            &secret,
        ]
    );
}
