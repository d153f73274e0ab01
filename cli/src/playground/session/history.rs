//! The actions of a session with their times, which the page's URL contains.

use std::{fmt, str::FromStr};

use tollgate::Micros;

use super::pace::MILLISECOND;

/// Longer URLs are truncated by some mail and chat programs.
const MAX_ACTIONS: usize = 100;

/// The latest time of an action: an hour.
const MAX_TIME: Micros = 3_600_000_000;

/// An action with a name in the page's URL.
pub(crate) trait NamedAction: Copy + 'static {
    const ALL: &[Self];

    /// The names of all actions, for an error message.
    const NAMES: &str;

    fn name(self) -> &'static str;

    /// Whether it stops a stream.
    fn is_stop(self) -> bool;

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }
}

/// Actions by time, like `0-burst_3200-edge`: in milliseconds, with decimals if the session was stopped between two.
#[derive(Clone, Debug)]
pub(crate) struct ActionHistory<A>(Vec<(Micros, A)>);

impl<A> Default for ActionHistory<A> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<A: NamedAction> ActionHistory<A> {
    /// Adds an action and returns whether there was space for it. A stream can always be stopped.
    pub(crate) fn add(&mut self, now: Micros, action: A) -> bool {
        let fits = action.is_stop() || (self.0.len() + 1 < MAX_ACTIONS && now <= MAX_TIME);
        if fits {
            self.0.push((now, action));
        }
        fits
    }

    /// All actions, oldest first.
    pub(crate) fn actions(&self) -> impl Iterator<Item = (Micros, A)> {
        self.0.iter().copied()
    }
}

impl<A: NamedAction> FromStr for ActionHistory<A> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let actions = text.split('_').filter(|part| !part.is_empty()).map(|part| {
            let (time, action) = part.split_once('-')?;
            Some((parse_time(time)?, A::parse(action)?))
        });
        let actions: Option<Vec<_>> = actions.collect();
        match actions {
            Some(actions) if actions.len() <= MAX_ACTIONS && actions.is_sorted_by_key(|(at, _)| *at) => {
                Ok(Self(actions))
            }
            _ => Err(format!(
                "must be up to {MAX_ACTIONS} actions in order of time, like 0-{}_3200-{}: milliseconds, then {}",
                A::ALL[0].name(),
                A::ALL[1].name(),
                A::NAMES
            )),
        }
    }
}

impl<A: NamedAction> fmt::Display for ActionHistory<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (at, action)) in self.actions().enumerate() {
            let separator = if index == 0 { "" } else { "_" };
            write!(f, "{separator}{}-{}", Time(at), action.name())?;
        }
        Ok(())
    }
}

/// A time in milliseconds, as in the page's URL: `3200`, or `333.333`.
struct Time(Micros);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (millis, rest) = (self.0 / MILLISECOND, self.0 % MILLISECOND);
        match rest {
            0 => write!(f, "{millis}"),
            rest => write!(f, "{millis}.{rest:03}"),
        }
    }
}

/// Parses a time, which is at most [`MAX_TIME`].
pub(super) fn parse_time(text: &str) -> Option<Micros> {
    let (millis, rest) = text.split_once('.').unwrap_or((text, "0"));
    let millis: Micros = millis.parse().ok()?;
    let rest = format!("{rest:0<3}");
    let rest: Micros = rest.parse().ok().filter(|_| rest.len() == 3)?;
    Some(millis.saturating_mul(MILLISECOND).saturating_add(rest).min(MAX_TIME))
}
