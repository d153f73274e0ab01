//! The requests that a rule or an exemption applies to: `path` and `methods` of a rules file.

use std::fmt;

use http::{Method, Request};
use matchit::{InsertError, Router};

use crate::key::Key;

/// A path pattern and a set of methods. `None` matches all.
#[derive(Debug)]
pub(super) struct Scope {
    pub(super) path: Option<PathPattern>,
    pub(super) methods: Option<Vec<Method>>,
}

impl Scope {
    pub(super) fn matches<B>(&self, request: &Request<B>) -> bool {
        let methods = self.methods.as_ref();
        let path = self.path.as_ref();
        methods.is_none_or(|methods| methods.contains(request.method()))
            && path.is_none_or(|path| path.matches(request.uri().path()))
    }
}

/// A pattern like `/users/{id}` or `/files/{*rest}`, matched by `matchit`, as axum's routes are.
pub(super) struct PathPattern {
    pattern: Box<str>,
    router: Router<()>,
}

impl PathPattern {
    /// Parses a pattern. The error completes the sentence "it must ...".
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
            return Err("be a path without a query or a fragment");
        }
        if !pattern.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("be percent-encoded, as in requests: a space is %20, and an \u{e9} is %C3%A9");
        }
        let mut router = Router::new();
        match router.insert(pattern, ()) {
            Ok(()) => Ok(Self {
                pattern: pattern.into(),
                router,
            }),
            Err(InsertError::InvalidCatchAll) => {
                Err("have its wildcard at the end, as a whole segment, like /files/{*rest}")
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

    /// The key of matching requests, for rules with `key = "route"`.
    pub(super) fn key(&self) -> Key {
        Key::route(&self.pattern)
    }
}

impl fmt::Debug for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pattern.fmt(f)
    }
}
