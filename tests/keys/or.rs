//! What stands in when there is nothing to count by.

use std::net::SocketAddr;

use http::Request;
use tollgate::{ApiKey, ClientIp, FromExtension, Header, Key, KeyError, KeyExtractor, extract::Or};

use crate::keys::{digest, key, request, with_extension};

fn from_peer(headers: &[(&str, &str)]) -> Request<()> {
    let mut request = request(headers);
    request
        .extensions_mut()
        .insert(SocketAddr::from(([192, 0, 2, 1], 4711)));
    request
}

#[test]
fn a_stand_in_is_nobody_who_sends_its_word() {
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
fn a_word_by_itself_is_one_for_all() {
    for request in [request(&[]), from_peer(&[("x-user-id", "1")])] {
        assert_eq!(key(&"everyone", &request), "~everyone");
        assert_eq!(
            key(&"not logged in", &request),
            format!("~#{}", digest("not logged in"))
        );
    }
}

#[test]
fn an_address_stands_in_for_a_header() {
    let user = Header::new("x-user-id").label("user").or(ClientIp::peer());
    assert_eq!(key(&user, &from_peer(&[("x-user-id", "1")])), "user:1");
    assert_eq!(
        key(&user, &from_peer(&[("x-user-id", "ip:192.0.2.1")])),
        format!("user:#{}", digest("ip:192.0.2.1"))
    );
    assert_eq!(key(&user, &from_peer(&[("x-user-id", "")])), "ip:192.0.2.1");
    assert_eq!(key(&user, &from_peer(&[])), "ip:192.0.2.1");
    // Nobody needs an address who has a name.
    assert_eq!(key(&user, &request(&[("x-user-id", "1")])), "user:1");
}

#[test]
fn the_first_of_a_chain_that_is_there_counts() {
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
fn a_chain_that_ends_without_a_key_lacks_the_last_of_it() {
    let chain = ApiKey::header("x-api-key").or(Header::new("x-user-id"));
    assert_eq!(
        chain.extract(&request(&[])),
        Err(KeyError::missing("the `x-user-id` header"))
    );
}

#[test]
fn a_stand_in_is_nobody_whose_whole_key_is_its_word() {
    let user = Or::new(FromExtension::new(|name: &String| Key::new(name.clone())), "anonymous");
    assert_eq!(key(&user, &request(&[])), "~anonymous");
    for name in ["anonymous", "~anonymous"] {
        assert_ne!(key(&user, &with_extension(name.to_owned())), "~anonymous");
    }
}

/// What becomes of a closure's answer that a stand-in follows.
fn answered(answer: Result<Option<Key>, KeyError>) -> Result<Option<Key>, KeyError> {
    Or::new(|_: &()| answer.clone(), "anonymous").extract(&())
}

#[test]
fn nothing_stands_in_for_whoever_is_exempt_or_for_what_the_service_lacks() {
    let broken = Err(KeyError::not_provided("database", "start it"));
    assert_eq!(answered(broken.clone()), broken);
    assert_eq!(answered(Ok(None)), Ok(None));
    assert_eq!(answered(Ok(Some(Key::GLOBAL))), Ok(Some(Key::GLOBAL)));
    assert_eq!(
        answered(Err(KeyError::missing("a cookie"))),
        Ok(Some(Key::verbatim("~anonymous")))
    );
}
