//! A path as axum's routes have it.

use std::fmt;

use matchit::{InsertError, Router};

use crate::key::Key;

/// A pattern like `/users/{id}` or `/files/{*rest}`, matched by the same code as axum's routes.
pub(super) struct Path {
    pattern: Box<str>,
    router: Router<()>,
}

impl Path {
    /// The pattern, or what it must be. That completes the sentence "it must ...".
    pub(super) fn parse(pattern: &str) -> Result<Self, &'static str> {
        if !pattern.starts_with('/') {
            return Err("begin with a slash, like /api/search");
        }
        for segment in pattern.split('/') {
            match segment.bytes().next() {
                Some(b':') => return Err("have its parameters in braces, like /users/{id}"),
                Some(b'*') => return Err("have its wildcard in braces and with a name, like /files/{*rest}"),
                _ => {}
            }
        }
        if pattern.contains(['?', '#']) {
            return Err("be a path alone: a query is no part of it");
        }
        if !pattern.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("be written as requests have it: a space is %20 there, and an \u{e9} is %C3%A9");
        }
        let mut router = Router::new();
        match router.insert(pattern, ()) {
            Ok(()) => Ok(Self {
                pattern: pattern.into(),
                router,
            }),
            Err(InsertError::InvalidCatchAll) => {
                Err("have its wildcard at the end, as a segment of its own, like /files/{*rest}")
            }
            Err(InsertError::InvalidParamSegment) => {
                Err("have one parameter in a segment at most, and nothing after it, like /users/{id}/orders")
            }
            Err(_) => Err("have a name in each pair of braces, like /users/{id}; a brace itself is written twice"),
        }
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        self.router.at(path).is_ok()
    }

    /// What requests that match are counted by, where they are counted by their route.
    pub(super) fn key(&self) -> Key {
        Key::route(&self.pattern)
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pattern.fmt(f)
    }
}
