//! The words for what becomes of requests, the same in metrics and in spans.

/// What has become of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// All limits let it pass.
    Admitted,
    /// One of them did not.
    Limited,
    /// It costs more than one of them ever holds.
    Impossible,
    /// No limit applies to it.
    Exempt,
    /// It was denied before anything was counted.
    Denied,
    /// It lacks what it would be counted by.
    Uncounted,
    /// The store could not decide, and it passed.
    Unchecked,
    /// The store could not decide, and it did not pass.
    Unavailable,
}

impl Fate {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Admitted => "admitted",
            Self::Limited => "limited",
            Self::Impossible => "impossible",
            Self::Exempt => "exempt",
            Self::Denied => "denied",
            Self::Uncounted => "uncounted",
            Self::Unchecked => "unchecked",
            Self::Unavailable => "unavailable",
        }
    }
}

/// Who has decided about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Store,
    /// Memory, while the store could not.
    Fallback,
    Nobody,
}

impl By {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Fallback => "fallback",
            Self::Nobody => "nobody",
        }
    }
}

/// What a limit has said of a request, and what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// It admitted the request, and was charged.
    Admitted,
    /// It had no part in it: another limit refused the request, and nothing was charged.
    Spared,
    /// It refused the request for now.
    Limited,
    /// It refused the request for good.
    Impossible,
}

#[cfg(feature = "metrics")]
impl Said {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Admitted => "admitted",
            Self::Spared => "spared",
            Self::Limited => "limited",
            Self::Impossible => "impossible",
        }
    }
}

/// What a wait for Redis has come to.
#[cfg(feature = "redis")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    Answered,
    Failed,
    /// Whoever waited is gone.
    #[cfg_attr(
        not(feature = "metrics"),
        expect(dead_code, reason = "only what is measured is told")
    )]
    Left,
}

#[cfg(all(feature = "redis", feature = "metrics"))]
impl Wait {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Failed => "failed",
            Self::Left => "left",
        }
    }
}
