//! Values that an outer layer inserted into the request's extensions.

use std::any::type_name;

use tollgate::{FromExtension, Header, Key, KeyError, KeyExtractor};

use crate::keys::{error, key, request, with_extension};

#[derive(Clone)]
struct User {
    id: u64,
    is_admin: bool,
}

const USER: User = User {
    id: 12345,
    is_admin: false,
};
const ADMIN: User = User { id: 1, is_admin: true };

fn unless_admin(user: &User) -> Option<Key> {
    (!user.is_admin).then(|| Key::named("user", user.id))
}

#[test]
fn a_value_is_counted_by_the_key_read_from_it() {
    let by_id = FromExtension::new(|user: &User| Key::named("user", user.id));
    assert_eq!(key(&by_id, &with_extension(USER)), "user:12345");
    assert_eq!(key(&by_id.clone(), &with_extension(ADMIN)), "user:1");
}

#[test]
fn a_value_can_have_no_key() {
    let user = FromExtension::new(unless_admin);
    assert_eq!(key(&user, &with_extension(USER)), "user:12345");
    let missing = KeyError::missing("the key that it is counted by");
    assert_eq!(user.extract(&with_extension(ADMIN)), Err(missing));
    assert_eq!(key(&user.clone().or("admin"), &with_extension(ADMIN)), "~admin");
    assert_eq!(user.optional().extract_optional(&with_extension(ADMIN)), Ok(None));
}

#[test]
fn a_value_can_be_an_error() {
    let expected = KeyError::missing("a confirmed address");
    let user = FromExtension::new(|_: &User| Err::<Key, _>(KeyError::missing("a confirmed address")));
    assert_eq!(user.extract(&with_extension(USER)), Err(expected));
}

#[test]
fn a_missing_value_is_an_error_that_explains_the_setup() {
    let how = "put the layer that inserts it outside of the rate limit, or set a default key with .or(..)";
    let what = format!("`{}` in the request's extensions", type_name::<User>());
    let text = format!("there is no {what} to count requests by: {how}");
    let user = FromExtension::new(unless_admin);
    for request in [request(&[]), with_extension(12345_u64)] {
        assert_eq!(error(&user, &request), text);
        assert!(matches!(user.extract(&request), Err(KeyError::NotProvided { .. })));
    }
}

#[test]
fn a_default_key_replaces_a_missing_value() {
    let session = Header::new("x-session");
    let user = FromExtension::new(unless_admin).or(session).or("anonymous");
    assert_eq!(key(&user, &with_extension(USER)), "user:12345");
    assert_eq!(key(&user, &request(&[("x-session", "1")])), "x-session:1");
    assert_eq!(key(&user, &request(&[])), "~anonymous");
}
