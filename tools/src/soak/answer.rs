//! The outcome of a request as a process reports it in the response body, and as the soak parses it.

use std::{fmt, str::FromStr};

use tollgate::{Decision, Micros, Rejection};

use crate::limits::{Mode, WINDOW};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) decided_by: DecidedBy,
    pub(crate) admits: bool,
    /// When the window of the request began, by the clock of the store that decided.
    pub(crate) window: Micros,
    /// Whether the window began at the time of the decision.
    pub(crate) opens: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum DecidedBy {
    Redis,
    Fallback,
    /// No store: admitted unchecked, or rejected with 503.
    FailureMode,
}

impl Answer {
    pub(crate) fn from_decision(decision: &Decision) -> Self {
        let decided_by = match decision {
            _ if decision.is_unchecked() => DecidedBy::FailureMode,
            _ if decision.is_by_fallback() => DecidedBy::Fallback,
            _ => DecidedBy::Redis,
        };
        let reset_after = decision.tiers().first().map(|tier| tier.verdict().reset_after());
        let window = reset_after.map_or(0, |reset_after| {
            decision.now() + reset_after.as_micros() as Micros - WINDOW.as_micros() as Micros
        });
        Self {
            decided_by,
            admits: decision.admits(),
            window,
            opens: window == decision.now(),
        }
    }

    pub(crate) fn from_rejection(rejection: &Rejection) -> Self {
        match rejection {
            Rejection::Limited(decision) => Self::from_decision(decision),
            _ => Self {
                decided_by: DecidedBy::FailureMode,
                admits: false,
                window: 0,
                opens: false,
            },
        }
    }

    /// The HTTP status that belongs to this answer.
    pub(crate) fn status(self) -> u16 {
        match (self.decided_by, self.admits) {
            (_, true) => 200,
            (DecidedBy::FailureMode, false) => 503,
            (DecidedBy::Redis | DecidedBy::Fallback, false) => 429,
        }
    }

    /// Whether a layer of this mode may give this answer.
    pub(crate) fn is_allowed(self, mode: Mode) -> bool {
        match self.decided_by {
            DecidedBy::Redis => true,
            DecidedBy::Fallback => mode == Mode::Local,
            DecidedBy::FailureMode => mode == if self.admits { Mode::Open } else { Mode::Closed },
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decided_by = match self.decided_by {
            DecidedBy::Redis => "redis",
            DecidedBy::Fallback => "fallback",
            DecidedBy::FailureMode => "failure_mode",
        };
        let outcome = if self.admits { "admits" } else { "rejects" };
        write!(f, "{decided_by} {outcome} {} {}", self.window, self.opens)
    }
}

impl FromStr for Answer {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut fields = text.split(' ');
        let decided_by = match fields.next() {
            Some("redis") => DecidedBy::Redis,
            Some("fallback") => DecidedBy::Fallback,
            Some("failure_mode") => DecidedBy::FailureMode,
            _ => return Err(()),
        };
        let admits = fields.next() == Some("admits");
        let window = fields.next().and_then(|window| window.parse().ok()).ok_or(())?;
        let opens = fields.next() == Some("true");
        Ok(Self {
            decided_by,
            admits,
            window,
            opens,
        })
    }
}
