//! What a request was told, and by whom: what the processes say, and the soak reads.

use std::{fmt, str::FromStr};

use tollgate::{Decision, Micros, Rejection};

use crate::limits::{Mode, WINDOW};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) by: By,
    pub(crate) admits: bool,
    /// When the window began that it was counted in, by the clock of whoever decided.
    pub(crate) window: Micros,
    /// Whether that was at the very time of the decision.
    pub(crate) opens: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum By {
    Redis,
    Fallback,
    /// Let through unchecked, or turned away with 503.
    Nobody,
}

impl Answer {
    pub(crate) fn of(decision: &Decision) -> Self {
        let by = match decision {
            _ if decision.is_unchecked() => By::Nobody,
            _ if decision.is_by_fallback() => By::Fallback,
            _ => By::Redis,
        };
        let left = decision.tiers().first().map(|tier| tier.verdict().reset_after());
        let window = left.map_or(0, |left| {
            decision.now() + left.as_micros() as Micros - WINDOW.as_micros() as Micros
        });
        Self {
            by,
            admits: decision.admits(),
            window,
            opens: window == decision.now(),
        }
    }

    pub(crate) fn to_refused(why: &Rejection) -> Self {
        match why {
            Rejection::Limited(decision) => Self::of(decision),
            _ => Self {
                by: By::Nobody,
                admits: false,
                window: 0,
                opens: false,
            },
        }
    }

    /// The status that goes with it.
    pub(crate) fn status(self) -> u16 {
        match (self.by, self.admits) {
            (_, true) => 200,
            (By::Nobody, false) => 503,
            (By::Redis | By::Fallback, false) => 429,
        }
    }

    /// Whether a layer of this mode may say so.
    pub(crate) fn is_allowed(self, mode: Mode) -> bool {
        match self.by {
            By::Redis => true,
            By::Fallback => mode == Mode::Local,
            By::Nobody => mode == if self.admits { Mode::Open } else { Mode::Closed },
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = match self.by {
            By::Redis => "redis",
            By::Fallback => "fallback",
            By::Nobody => "nobody",
        };
        let outcome = if self.admits { "admits" } else { "refuses" };
        write!(f, "{by} {outcome} {} {}", self.window, self.opens)
    }
}

impl FromStr for Answer {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut words = text.split(' ');
        let by = match words.next() {
            Some("redis") => By::Redis,
            Some("fallback") => By::Fallback,
            Some("nobody") => By::Nobody,
            _ => return Err(()),
        };
        let admits = words.next() == Some("admits");
        let window = words.next().and_then(|window| window.parse().ok()).ok_or(())?;
        let opens = words.next() == Some("true");
        Ok(Self {
            by,
            admits,
            window,
            opens,
        })
    }
}
