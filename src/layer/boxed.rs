//! Layers whose type can be written although they have closures.

use super::RateLimitLayer;
use crate::{
    algorithm::{Algorithm, AnyAlgorithm},
    extract::{BoxKeyExtractor, KeyExtractor},
    policy::{BoxPolicy, BoxTierOptions, Policy, TierOptions},
    respond::HttpResponder,
    store::MemoryStore,
};

/// A layer of any tiers, for requests and responses of one type: the result of [`RateLimitLayer::boxed`].
pub type BoxRateLimitLayer<Req, Res, St = MemoryStore, R = HttpResponder> =
    RateLimitLayer<AnyAlgorithm, BoxKeyExtractor<Req>, St, R, BoxTierOptions<Req, Res>, BoxPolicy<Req, Res>>;

impl<A: Algorithm, K, St, R, O, T> RateLimitLayer<A, K, St, R, O, T> {
    /// Boxes the tiers and filters, so that the type of the layer depends only on the types of requests and responses, on the store and
    /// on the responder: for layers with closures in the field of a struct, or as the result of a function.
    ///
    /// A request then costs some calls through pointers more, and no allocation. Tiers can still be added, in a loop too:
    ///
    /// ```
    /// use axum::{extract::Request, response::Response};
    /// use tollgate::{BoxRateLimitLayer, ClientIp, Key, MemoryStore, Quota, RateLimitLayer, Tier};
    ///
    /// fn limits(tenants: &'static [(&str, u32)]) -> BoxRateLimitLayer<Request, Response> {
    ///     let client = RateLimitLayer::token_bucket("client", Quota::per_minute(10), ClientIp::peer(), MemoryStore::new());
    ///     tenants.iter().fold(client.boxed(), |layer, &(tenant, per_minute)| {
    ///         let key = move |request: &Request| (request.uri().host() == Some(tenant)).then_some(Key::GLOBAL);
    ///         let tier = Tier::token_bucket(tenant, Quota::per_minute(per_minute), tollgate::KeyExtractor::<Request>::optional(key));
    ///         layer.tier(tier).boxed()
    ///     })
    /// }
    /// # let _: axum::Router = axum::Router::new().layer(limits(&[("a.example", 100), ("b.example", 1000)]));
    /// ```
    pub fn boxed<Req, Res>(self) -> BoxRateLimitLayer<Req, Res, St, R>
    where
        K: KeyExtractor<Req> + Send + Sync + 'static,
        O: TierOptions<Req, Res> + Send + Sync + 'static,
        T: Policy<Req, Res> + Send + Sync + 'static,
    {
        RateLimitLayer {
            first: self.first.boxed(),
            rest: BoxPolicy::new(self.rest),
            limits: self.limits,
            settings: self.settings,
        }
    }
}
