//! The tiers of a layer after the first one.

use super::RateLimitLayer;
use crate::{
    algorithm::Algorithm,
    config_error::{self, ConfigError},
    policy::Tier,
};

impl<A, K, St, R, O, T> RateLimitLayer<A, K, St, R, O, T> {
    /// Adds a tier. All tiers are charged together, all or none. [The guide](crate::guide::tiers) has more examples.
    ///
    /// ```
    /// use tollgate::{ClientIp, Global, MemoryStore, Quota, RateLimitLayer, Tier, TokenBucket};
    ///
    /// let bursts = TokenBucket::new(Quota::per_second(10)).capacity(50);
    /// let layer = RateLimitLayer::new(Tier::sliding_counter("all", Quota::per_second(1000), Global).hidden(), MemoryStore::new())
    ///     .tier(Tier::new("client", bursts, ClientIp::peer()));
    /// let twice = layer.try_tier(Tier::token_bucket("client", Quota::per_day(1), Global)).unwrap_err();
    /// assert_eq!(twice.to_string(), r#"name = "client": it must differ from the names of the other tiers"#);
    /// ```
    ///
    /// # Panics
    /// If [`try_tier`](Self::try_tier) returns an error.
    #[track_caller]
    #[expect(clippy::type_complexity, reason = "an alias would hide the type of the new layer")]
    pub fn tier<B: Algorithm, L, P>(self, tier: Tier<B, L, P>) -> RateLimitLayer<A, K, St, R, O, (T, Tier<B, L, P>)> {
        config_error::expect(self.try_tier(tier))
    }

    /// Adds a tier, or returns an error if another tier has its name.
    #[expect(clippy::type_complexity, reason = "an alias would hide the type of the new layer")]
    pub fn try_tier<B: Algorithm, L, P>(
        mut self,
        tier: Tier<B, L, P>,
    ) -> Result<RateLimitLayer<A, K, St, R, O, (T, Tier<B, L, P>)>, ConfigError> {
        tier.limit().check_distinct(&self.limits)?;
        self.limits.push(tier.limit().clone());
        Ok(self.with(tier))
    }
}
