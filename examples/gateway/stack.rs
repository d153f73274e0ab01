//! A request's way through the gateway: made plain, counted by the limits, passed on.

use std::{convert::Infallible, sync::Arc};

use axum::body::Body;
use http::{Request, Response};
use hyper::body::Incoming;
use tollgate::RuleSet;
use tower::{ServiceExt, service_fn, util::BoxCloneSyncService};

use crate::{counting::Counting, measures::Measures, plain::tidy, upstream::Proxy};

pub(crate) type Answer = Response<Body>;
pub(crate) type Never = Infallible;
pub(crate) type Boxed = BoxCloneSyncService<Request<Incoming>, Answer, Never>;

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
