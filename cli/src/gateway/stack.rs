//! A request's way through the gateway: made plain, counted by the limits, passed on.

use std::sync::Arc;

use http::Request;
use hyper::body::Incoming;
use tollgate::RuleSet;
use tower::{ServiceExt, service_fn, util::BoxCloneSyncService};

use crate::gateway::{
    answer::{Answer, Never},
    counting::{Boxed, Counting},
    measures::Measures,
    plain::tidy,
    upstream::Proxy,
};

/// The gateway as a service. Without limits, it only passes on.
#[derive(Clone)]
pub(crate) struct Stack {
    limited: Boxed,
    measures: Measures,
}

impl Stack {
    pub(crate) fn new(proxy: Proxy, limits: Option<(&Counting, RuleSet)>, measures: Measures) -> Self {
        let proxy = Arc::new(proxy);
        let pass = service_fn(move |request| {
            let proxy = Arc::clone(&proxy);
            async move { Ok(proxy.pass(request).await) }
        });
        let limited = match limits {
            Some((counting, rules)) => counting.limit(rules, pass),
            None => BoxCloneSyncService::new(pass),
        };
        Self { limited, measures }
    }

    pub(crate) async fn answer(self, request: Request<Incoming>) -> Result<Answer, Never> {
        let answer = match tidy(request) {
            Ok(request) => self.limited.oneshot(request).await?,
            Err(failing) => failing.answer(),
        };
        self.measures.answered(&answer);
        Ok(answer)
    }
}
