//! API keys, which are counted by their digest.

use http::{HeaderValue, Request};
use tollgate::{ApiKey, KeyError, KeyExtractor};

use crate::keys::{digest, key, request, shell};

fn authorized(value: &str) -> Request<()> {
    request(&[("authorization", value)])
}

#[test]
fn an_api_key_is_counted_by_the_digest_that_the_documented_command_prints() {
    for secret in [
        "password",
        "a",
        "apikey:5e884898da28047151d0e56f8dc62927",
        &"k".repeat(1000),
    ] {
        let command = "printf KEY | sha256sum | cut -c1-32".replace("KEY", secret);
        let text = format!("apikey:{}", shell(&command, b""));
        assert_eq!(
            key(&ApiKey::header("X-Api-Key"), &request(&[("x-api-key", secret)])),
            text
        );
        assert_eq!(key(&ApiKey::bearer(), &authorized(&format!("Bearer {secret}"))), text);
    }
    assert_eq!(
        key(&ApiKey::bearer(), &authorized("Bearer password")),
        "apikey:5e884898da28047151d0e56f8dc62927"
    );
}

#[test]
fn an_api_key_need_not_be_text() {
    let secret = HeaderValue::from_bytes(b"\xff\xfe").unwrap();
    let request = Request::builder().header("x-api-key", secret).body(()).unwrap();
    assert_eq!(
        key(&ApiKey::header("x-api-key"), &request),
        format!("apikey:{}", digest(b"\xff\xfe"))
    );
}

#[test]
fn the_scheme_is_case_insensitive_and_the_token_is_not() {
    for value in ["Bearer Secret", "bearer Secret", "BEARER Secret", "bEaReR   Secret "] {
        assert_eq!(
            key(&ApiKey::bearer(), &authorized(value)),
            format!("apikey:{}", digest("Secret"))
        );
    }
    assert_eq!(
        key(&ApiKey::bearer(), &authorized("Bearer secret")),
        format!("apikey:{}", digest("secret"))
    );
    assert_eq!(
        key(&ApiKey::bearer(), &authorized("Bearer a b")),
        format!("apikey:{}", digest("a b"))
    );
}

#[test]
fn a_missing_api_key_header_is_named_in_the_error() {
    for headers in [&[][..], &[("x-api-key", "")], &[("authorization", "Bearer secret")]] {
        let missing = KeyError::missing("the `x-api-key` header");
        assert_eq!(ApiKey::header("X-Api-Key").extract(&request(headers)), Err(missing));
    }
}

#[test]
fn an_authorization_header_without_a_bearer_token_is_an_error() {
    let missing = KeyError::missing("an `authorization` header with a bearer token");
    assert_eq!(ApiKey::bearer().extract(&request(&[])), Err(missing.clone()));
    let others = [
        "",
        " ",
        "Bearer",
        "Bearer ",
        "Bearer    ",
        "Basic c2VjcmV0",
        "Bearersecret",
        "secret",
        "bearer\tsecret",
    ];
    for value in others {
        assert_eq!(ApiKey::bearer().extract(&authorized(value)), Err(missing.clone()));
    }
    let text = "the request lacks an `authorization` header with a bearer token";
    assert_eq!(missing.to_string(), text);
}

#[test]
fn different_api_keys_are_an_error() {
    let two = |name, one, other| request(&[(name, one), (name, other)]);
    let text = format!("apikey:{}", digest("secret"));
    let header = ApiKey::header("x-api-key");
    assert_eq!(key(&header, &two("x-api-key", "secret", "secret")), text);
    for (one, other) in [("secret", "other"), ("", "secret"), ("secret", "")] {
        let ambiguous = KeyError::ambiguous("the `x-api-key` header");
        assert_eq!(header.extract(&two("x-api-key", one, other)), Err(ambiguous));
    }

    // Equal tokens are one token, regardless of the spelling of their scheme.
    let bearer = ApiKey::bearer();
    let same = two("authorization", "Bearer secret", "bearer  secret");
    assert_eq!(key(&bearer, &same), text);
    for (one, other) in [
        ("Bearer secret", "Bearer other"),
        ("Basic c2VjcmV0", "Bearer secret"),
        ("Bearer secret", ""),
    ] {
        let request = two("authorization", one, other);
        let ambiguous = KeyError::ambiguous("the `authorization` header");
        assert_eq!(bearer.extract(&request), Err(ambiguous.clone()));
        assert_eq!(bearer.clone().or("anonymous").extract(&request), Err(ambiguous));
    }
    let missing = KeyError::missing("an `authorization` header with a bearer token");
    assert_eq!(
        bearer.extract(&two("authorization", "Basic a", "Basic b")),
        Err(missing)
    );
}

#[test]
fn a_secret_is_in_no_debug_or_display_output() {
    let printed = |extractor: &ApiKey, request: &Request<()>| {
        let result = extractor.extract(request);
        let key = result.clone().ok().map(|key| key.to_string());
        format!("{extractor:?} {result:?} {key:?}").to_lowercase()
    };
    let (header, bearer) = (ApiKey::header("x-api-key"), ApiKey::bearer());
    for secret in ["hunter2", "-_.~@+=,|/"] {
        let [good, bad] = ["Bearer ", "Basic "].map(|scheme| authorized(&format!("{scheme}{secret}")));
        assert!(!printed(&header, &request(&[("x-api-key", secret)])).contains(secret));
        assert!(!printed(&bearer, &good).contains(secret));
        assert!(!printed(&bearer, &bad).contains(secret));
    }
}
