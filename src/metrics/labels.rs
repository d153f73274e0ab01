//! The values of labels, the same in metrics and spans.

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestOutcome {
    Admitted,
    Limited,
    /// It costs more than a limit's capacity.
    Impossible,
    /// No limit applies to it.
    Exempt,
    /// The layer's block list rejected it.
    Blocked,
    /// It has no key to be counted by.
    MissingKey,
    /// It has several different values for its key.
    AmbiguousKey,
    /// The store failed for all tiers or some, and the request passed without them.
    FailedOpen,
    /// The store failed, and the request was rejected.
    FailedClosed,
}

impl RequestOutcome {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Admitted => "admitted",
            Self::Limited => "limited",
            Self::Impossible => "impossible",
            Self::Exempt => "exempt",
            Self::Blocked => "blocked",
            Self::MissingKey => "missing_key",
            Self::AmbiguousKey => "ambiguous_key",
            Self::FailedOpen => "failed_open",
            Self::FailedClosed => "failed_closed",
        }
    }
}

/// What made a decision, the least reliable last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DecisionSource {
    #[default]
    Store,
    /// This node's memory, while the store failed, for some tiers at least.
    Fallback,
    None,
}

impl DecisionSource {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Fallback => "fallback",
            Self::None => "none",
        }
    }
}

/// The outcome of one tier of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TierOutcome {
    Admitted,
    /// Another tier denied the request, so nothing was charged to this one.
    NotCharged,
    Limited,
    Impossible,
    /// The store failed for it, and decided about other tiers of the request.
    Unchecked,
}

#[cfg(feature = "metrics")]
impl TierOutcome {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Admitted => "admitted",
            Self::NotCharged => "not_charged",
            Self::Limited => "limited",
            Self::Impossible => "impossible",
            Self::Unchecked => "unchecked",
        }
    }
}

/// The outcome of waiting for Redis.
#[cfg(feature = "redis")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreCallOutcome {
    Answered,
    Failed,
    /// The caller dropped its future first.
    #[cfg_attr(not(feature = "metrics"), expect(dead_code, reason = "only the metrics need it"))]
    Cancelled,
}

#[cfg(all(feature = "redis", feature = "metrics"))]
impl StoreCallOutcome {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What happened to a unit of a lease.
#[cfg(feature = "redis")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnitOutcome {
    Leased,
    Spent,
    Returned,
}

#[cfg(feature = "redis")]
impl UnitOutcome {
    #[cfg(feature = "metrics")]
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Leased => "leased",
            Self::Spent => "spent",
            Self::Returned => "returned",
        }
    }
}
