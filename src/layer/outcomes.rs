//! Corrections of charges by the response.

use super::{RateLimitLayer, in_code::InCode};
#[cfg(feature = "axum")]
use crate::policy::{SentBody, SettleBody};
use crate::{
    extract::IntoCost,
    policy::{RefundIf, Settle},
};

impl<A, K, St, R, P> RateLimitLayer<A, K, St, R, P> {
    /// Refunds the charge of the preceding tier if a closure returns true for the response: to count only failures, or only
    /// successes.
    ///
    /// The charge is taken before the request is served, so that concurrent requests cannot exceed the limit, and refunded
    /// before the response is passed on, whose headers contain the state after the refund. The charge stays if there is no
    /// response (the inner service returns an error, or the client disconnects), or if the store fails. A place in the queue of
    /// a leaky bucket is refunded only while no other request is queued behind it; for logins, choose another algorithm.
    ///
    /// ```
    /// use axum::response::Response;
    /// use tollgate::{ClientIp, MemoryStore, Quota, RateLimitLayer};
    ///
    /// // Five failed logins in 15 minutes; successful ones are refunded.
    /// let quota = Quota::new(5, std::time::Duration::from_secs(15 * 60));
    /// let logins = RateLimitLayer::sliding_log("logins", quota, ClientIp::peer(), MemoryStore::new())
    ///     .refund_if(|response: &Response| response.status().is_success());
    /// // Requests that fail with a server error are not counted.
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

    /// Corrects the charge of the preceding tier to the cost that a closure returns for the response; `None` keeps it.
    ///
    /// If the charge was too high, the difference is refunded. If it was too low, the difference is charged even if the limit
    /// is exhausted, up to twice its capacity, at the expense of later requests. So [charge](Self::cost) an estimate that is
    /// rather too high. A cost of 0 is not charged, and so not corrected. Apart from that, it works like
    /// [`refund_if`](Self::refund_if); if a tier has several corrections, the last one that returns a cost applies.
    ///
    /// ```
    /// use axum::response::Response;
    /// use tollgate::{Header, MemoryStore, Quota, RateLimitLayer};
    ///
    /// let tokens = RateLimitLayer::token_bucket("tokens", Quota::per_minute(10_000), Header::new("x-user-id"), MemoryStore::new())
    ///     .cost(|_: &axum::extract::Request| 500) // an estimate
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

    /// Corrects the charge of the preceding tier when the response body ends: to the number of bytes sent, or to a count of the
    /// handler. It requires axum's body type.
    ///
    /// If the body ends early, with an error or because the client disconnects before the last frame is handed on, the charge is
    /// corrected only upwards: to the cost of what was sent until then if that exceeds the charge, otherwise it stays as it was.
    /// It stays, too, if the body is never polled, as in responses to `HEAD`. Until the body ends, only the estimate is charged,
    /// so bound what a client can receive in one response by other means. What was handed on to the connection counts as sent,
    /// although some of it may still be in buffers when the client disconnects.
    ///
    /// The correction runs in the background, and the headers of the response, which are sent before the body, contain the state
    /// before it. A charge that the response itself has corrected, by [`refund_if`](Self::refund_if) or
    /// [`settle`](Self::settle), is not corrected again.
    ///
    /// ```
    /// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
    /// use axum::extract::Request;
    /// use tollgate::{Header, MemoryStore, Quota, RateLimitLayer, SentBody};
    ///
    /// let (user, store) = (Header::new("x-user-id"), MemoryStore::new());
    /// let traffic = RateLimitLayer::token_bucket("traffic", Quota::per_minute(10_000_000), user.clone(), store.clone())
    ///     .cost(|_: &Request| 50_000) // an estimate
    ///     .settle_body(|sent: &SentBody| sent.bytes());
    ///
    /// /// A counter that a handler puts into the extensions of its response, and increments while the body streams.
    /// #[derive(Clone, Default)]
    /// struct Tokens(Arc<AtomicU64>);
    ///
    /// let tokens = RateLimitLayer::token_bucket("tokens", Quota::per_minute(10_000), user, store)
    ///     .cost(|_: &Request| 500)
    ///     .settle_body(|sent: &SentBody| Some(sent.extensions().get::<Tokens>()?.0.load(Ordering::Relaxed)));
    /// # let _: axum::Router = axum::Router::new().layer(traffic).layer(tokens);
    /// ```
    #[cfg(feature = "axum")]
    pub fn settle_body<C, F>(self, cost: F) -> RateLimitLayer<A, K, St, R, (P, SettleBody<F>)>
    where
        A: InCode,
        F: Fn(&SentBody) -> C,
        C: IntoCost,
    {
        let step = SettleBody::new(self.last().name(), cost);
        self.then(step)
    }
}
