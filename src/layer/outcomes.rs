//! What requests turn out to have cost.

use super::{RateLimitLayer, in_code::InCode};
#[cfg(feature = "axum")]
use crate::policy::{Sent, SettleBody};
use crate::{
    extract::IntoCost,
    policy::{RefundIf, Settle},
};

impl<A, K, St, R, P> RateLimitLayer<A, K, St, R, P> {
    /// Gives the charge of the tier before it back if the response says so: to count only what fails, or only what does not.
    ///
    /// It is charged before the request is served, so that no more than the limit are ever under way at once, and given back
    /// before the response is passed on, which tells what is left after that. A response that never comes (an error of the
    /// inner service, a client who left) keeps its charge, and so does one whose store cannot be reached. A place in the queue
    /// of a leaky bucket is only given back while nobody stands behind it; for logins, choose another algorithm.
    ///
    /// ```
    /// use axum::response::Response;
    /// use tollgate::{ClientIp, MemoryStore, Quota, RateLimitLayer};
    ///
    /// // Five wrong passwords in a quarter of an hour, and as many right ones as one likes.
    /// let quota = Quota::new(5, std::time::Duration::from_secs(15 * 60));
    /// let logins = RateLimitLayer::sliding_log("logins", quota, ClientIp::peer(), MemoryStore::new())
    ///     .refund_if(|response: &Response| response.status().is_success());
    /// // Our own failures are nobody's fault but ours.
    /// let api = RateLimitLayer::token_bucket("api", Quota::per_minute(100), ClientIp::peer(), MemoryStore::new())
    ///     .refund_if(|response: &Response| response.status().is_server_error());
    /// # let _: axum::Router = axum::Router::new().layer(logins).layer(api);
    /// ```
    pub fn refund_if<Res, F>(self, refund: F) -> RateLimitLayer<A, K, St, R, (P, RefundIf<F>)>
    where
        A: InCode,
        F: Fn(&Res) -> bool,
    {
        let step = RefundIf::new(self.last().name(), refund);
        self.then(step)
    }

    /// Corrects the charge of the tier before it to the cost that the response tells; `None` leaves it.
    ///
    /// What was charged too much is given back. What was too little is charged, whatever is left, up to twice what the limit
    /// holds: those who come next pay for it. So [charge](Self::cost) an estimate that is rather too high; what costs 0 is not
    /// charged, and not corrected. The rest is as with
    /// [`refund_if`](Self::refund_if); where a tier has several, the last one that says something counts.
    ///
    /// ```
    /// use axum::response::Response;
    /// use tollgate::{Header, MemoryStore, Quota, RateLimitLayer};
    ///
    /// let tokens = RateLimitLayer::token_bucket("tokens", Quota::per_minute(10_000), Header::new("x-user-id"), MemoryStore::new())
    ///     .cost(|_: &axum::extract::Request| 500) // what an answer takes, more or less
    ///     .settle(|response: &Response| response.headers().get("x-tokens")?.to_str().ok()?.parse().ok());
    /// # let _: axum::Router = axum::Router::new().layer(tokens);
    /// ```
    pub fn settle<Res, C, F>(self, cost: F) -> RateLimitLayer<A, K, St, R, (P, Settle<F>)>
    where
        A: InCode,
        F: Fn(&Res) -> C,
        C: IntoCost,
    {
        let step = Settle::new(self.last().name(), cost);
        self.then(step)
    }

    /// Corrects the charge of the tier before it when the response's body ends: to how much was sent, or to what a handler
    /// has counted meanwhile. It is for axum's bodies.
    ///
    /// A body that breaks off, or whose client leaves before the last of it was handed on, keeps the charge as it was; so does
    /// one that nobody asks for, in answer to `HEAD`. Nobody waits for the
    /// correction, and the response's headers, which are sent before the body, tell what was left before it. A charge that the
    /// response itself has corrected, by [`refund_if`](Self::refund_if) or [`settle`](Self::settle), is not corrected again.
    ///
    /// ```
    /// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
    /// use axum::extract::Request;
    /// use tollgate::{Header, MemoryStore, Quota, RateLimitLayer, Sent};
    ///
    /// let (user, store) = (Header::new("x-user-id"), MemoryStore::new());
    /// let traffic = RateLimitLayer::token_bucket("traffic", Quota::per_minute(10_000_000), user.clone(), store.clone())
    ///     .cost(|_: &Request| 50_000) // what an answer takes, more or less
    ///     .settle_body(|sent: &Sent| sent.bytes());
    ///
    /// /// A handler puts it into its response's extensions, and goes on counting while it streams.
    /// #[derive(Clone, Default)]
    /// struct Tokens(Arc<AtomicU64>);
    ///
    /// let tokens = RateLimitLayer::token_bucket("tokens", Quota::per_minute(10_000), user, store)
    ///     .cost(|_: &Request| 500)
    ///     .settle_body(|sent: &Sent| Some(sent.extensions().get::<Tokens>()?.0.load(Ordering::Relaxed)));
    /// # let _: axum::Router = axum::Router::new().layer(traffic).layer(tokens);
    /// ```
    #[cfg(feature = "axum")]
    pub fn settle_body<C, F>(self, cost: F) -> RateLimitLayer<A, K, St, R, (P, SettleBody<F>)>
    where
        A: InCode,
        F: Fn(&Sent) -> C,
        C: IntoCost,
    {
        let step = SettleBody::new(self.last().name(), cost);
        self.then(step)
    }
}
