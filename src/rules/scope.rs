//! Which requests are meant.

use http::{Method, Request};

use super::path::Path;

/// A path and some methods. Where one of them is not given, all are meant.
#[derive(Debug)]
pub(super) struct Scope {
    pub(super) path: Option<Path>,
    pub(super) methods: Option<Vec<Method>>,
}

impl Scope {
    pub(super) fn covers<B>(&self, request: &Request<B>) -> bool {
        let methods = self.methods.as_ref();
        let path = self.path.as_ref();
        methods.is_none_or(|methods| methods.contains(request.method()))
            && path.is_none_or(|path| path.matches(request.uri().path()))
    }
}
