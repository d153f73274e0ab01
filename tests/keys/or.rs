//! Default keys for requests that lack a key.

use std::net::SocketAddr;

use http::Request;
use tollgate::{ApiKey, ClientIp, FromExtension, Header, Key, KeyError, KeyExtractor};

use crate::keys::{digest, key, request, with_extension};

fn from_peer(headers: &[(&str, &str)]) -> Request<()> {
    let mut request = request(headers);
    request
        .extensions_mut()
        .insert(SocketAddr::from(([192, 0, 2, 1], 4711)));
    request
}

#[test]
fn a_default_key_differs_from_a_sent_value() {
    let user = Header::new("x-user-id").or("anonymous");
    let cases = [
        (request(&[]), "~anonymous"),
        (request(&[("x-user-id", "")]), "~anonymous"),
        (request(&[("x-user-id", "anonymous")]), "x-user-id:anonymous"),
        (request(&[("x-user-id", "~anonymous")]), "x-user-id:~anonymous"),
    ];
    for (request, text) in cases {
        assert_eq!(key(&user, &request), text);
    }
}

#[test]
fn a_string_is_one_key_for_all_requests() {
    for request in [request(&[]), from_peer(&[("x-user-id", "1")])] {
        assert_eq!(key(&"everyone", &request), "~everyone");
        assert_eq!(
            key(&"not logged in", &request),
            format!("~#{}", digest("not logged in"))
        );
    }
}

#[test]
fn an_address_can_replace_a_missing_header() {
    let user = Header::new("x-user-id").label("user").or(ClientIp::peer());
    assert_eq!(key(&user, &from_peer(&[("x-user-id", "1")])), "user:1");
    assert_eq!(
        key(&user, &from_peer(&[("x-user-id", "ip:192.0.2.1")])),
        format!("user:#{}", digest("ip:192.0.2.1"))
    );
    assert_eq!(key(&user, &from_peer(&[("x-user-id", "")])), "ip:192.0.2.1");
    assert_eq!(key(&user, &from_peer(&[])), "ip:192.0.2.1");
    // A request with the header needs no address.
    assert_eq!(key(&user, &request(&[("x-user-id", "1")])), "user:1");
}

#[test]
fn the_first_key_present_in_a_chain_counts() {
    let chain = ApiKey::bearer()
        .or(Header::new("x-user-id"))
        .or(Header::new("x-session"))
        .or("anonymous");
    let bearer = format!("apikey:{}", digest("secret"));
    let (secret, user, session) = (
        ("authorization", "Bearer secret"),
        ("x-user-id", "1"),
        ("x-session", "2"),
    );
    let cases = [
        (&[session, user, secret][..], bearer.as_str()),
        (&[session, user], "x-user-id:1"),
        (&[session, ("authorization", "Basic secret")], "x-session:2"),
        (&[("x-session", "")], "~anonymous"),
    ];
    for (headers, text) in cases {
        assert_eq!(key(&chain, &request(headers)), text);
    }
}

#[test]
fn a_chain_without_a_key_names_its_last_extractor() {
    let chain = ApiKey::header("x-api-key").or(Header::new("x-user-id"));
    assert_eq!(
        chain.extract(&request(&[])),
        Err(KeyError::missing("the `x-user-id` header"))
    );
}

#[test]
fn a_default_key_differs_from_a_whole_key() {
    let user = FromExtension::new(|name: &String| Key::new(name.clone())).or("anonymous");
    assert_eq!(key(&user, &request(&[])), "~anonymous");
    for name in ["anonymous", "~anonymous"] {
        assert_ne!(key(&user, &with_extension(name.to_owned())), "~anonymous");
    }
}

/// The result of a closure that has a default key.
fn with_default_key(result: Result<Option<Key>, KeyError>) -> Result<Key, KeyError> {
    (|_: &()| result.clone()).or("anonymous").extract(&())
}

#[test]
fn a_default_key_replaces_a_missing_key_but_no_server_error() {
    let broken = KeyError::not_provided("database", "start it");
    assert_eq!(with_default_key(Err(broken.clone())), Err(broken));
    assert_eq!(with_default_key(Ok(Some(Key::GLOBAL))), Ok(Key::GLOBAL));
    for missing in [Ok(None), Err(KeyError::missing("a cookie"))] {
        assert_eq!(with_default_key(missing), Ok(Key::verbatim("~anonymous")));
    }
}

#[test]
fn an_optional_key_is_absent_but_never_ambiguous() {
    let optional = |result: Result<Option<Key>, KeyError>| (move |_: &()| result.clone()).optional();
    for absent in [Ok(None), Err(KeyError::missing("a cookie"))] {
        assert_eq!(optional(absent.clone()).extract_optional(&()), Ok(None));
        // A default applies to what is optional, too.
        assert_eq!(
            optional(absent.clone()).or("anonymous").extract_optional(&()),
            Ok(Some(Key::verbatim("~anonymous")))
        );
        assert_eq!(
            (|_: &()| None::<Key>).or(optional(absent)).extract_optional(&()),
            Ok(None)
        );
    }
    for error in [
        KeyError::ambiguous("a cookie"),
        KeyError::not_provided("database", "start it"),
    ] {
        assert_eq!(optional(Err(error.clone())).extract_optional(&()), Err(error));
    }
    assert_eq!(
        Header::new("x-tenant").optional().extract_optional(&request(&[])),
        Ok(None)
    );
    assert_eq!(
        Header::new("x-a")
            .or(Header::new("x-b"))
            .optional()
            .extract_optional(&request(&[])),
        Ok(None)
    );
}
