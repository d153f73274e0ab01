//! What was pressed for, and when: the part of a scene that makes it worth sharing.

use std::{fmt, str::FromStr};

use tollgate::Micros;

use super::{pace::MILLISECOND, press::Press};

/// An address that is longer is cut by some of those who pass it on.
const MOST_PRESSES: usize = 100;

/// A scene that is played again is not watched for longer than this.
const LONGEST: Micros = 3_600_000_000;

/// Presses by their times, as `0-burst_3200-edge`: milliseconds of the scene's time, and parts of one where it was stopped there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Play(Vec<(Micros, Press)>);

impl Play {
    /// Adds what is pressed for now, unless there is too much already. What goes on can always be ended.
    pub(crate) fn add(&mut self, now: Micros, press: Press) -> bool {
        let fits = press == Press::Stop || (self.0.len() + 1 < MOST_PRESSES && now <= LONGEST);
        if fits {
            self.0.push((now, press));
        }
        fits
    }

    /// What was pressed for, oldest first.
    pub(crate) fn presses(&self) -> impl Iterator<Item = (Micros, Press)> {
        self.0.iter().copied()
    }
}

impl FromStr for Play {
    type Err = String;

    fn from_str(given: &str) -> Result<Self, String> {
        let presses = given.split('_').filter(|part| !part.is_empty()).map(|part| {
            let (millis, press) = part.split_once('-')?;
            Some((moment(millis)?, press.parse().ok()?))
        });
        let presses: Option<Vec<_>> = presses.collect();
        match presses {
            Some(presses) if presses.len() <= MOST_PRESSES && presses.is_sorted_by_key(|(at, _)| *at) => {
                Ok(Self(presses))
            }
            _ => Err(format!(
                "must be up to {MOST_PRESSES} presses in order, like 0-burst_3200-edge: milliseconds, then one, \
                 burst, stream, stop or edge"
            )),
        }
    }
}

impl fmt::Display for Play {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (at, press)) in self.presses().enumerate() {
            let separator = if index == 0 { "" } else { "_" };
            write!(f, "{separator}{}-{}", Moment(at), press.name())?;
        }
        Ok(())
    }
}

/// A moment of a scene as an address spells it: `3200`, or `333.333`.
struct Moment(Micros);

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (millis, rest) = (self.0 / MILLISECOND, self.0 % MILLISECOND);
        match rest {
            0 => write!(f, "{millis}"),
            rest => write!(f, "{millis}.{rest:03}"),
        }
    }
}

/// Reads a moment. There is none after the last.
pub(super) fn moment(given: &str) -> Option<Micros> {
    let (millis, rest) = given.split_once('.').unwrap_or((given, "0"));
    let millis: Micros = millis.parse().ok()?;
    let rest = format!("{rest:0<3}");
    let rest: Micros = rest.parse().ok().filter(|_| rest.len() == 3)?;
    Some(millis.saturating_mul(MILLISECOND).saturating_add(rest).min(LONGEST))
}
