//! What was pressed for, and when: the part of a scene that makes it worth sharing.

use std::{fmt, str::FromStr};

use tollgate::Micros;

use super::{pace::MILLISECOND, press::Press};

/// An address that is longer is cut by some of those who pass it on.
const MOST: usize = 100;

/// A scene that is played again is not watched for longer than this.
const END: Micros = 3_600_000_000;

/// Presses by their times, as `0-burst_3200-edge`: milliseconds of the scene's time, which moves in these.
#[derive(Clone, Debug, Default)]
pub(crate) struct Play(Vec<(Micros, Press)>);

impl Play {
    /// Adds what is pressed for now, unless there is too much already.
    pub(crate) fn add(&mut self, now: Micros, press: Press) -> bool {
        let fits = self.0.len() < MOST && now <= END;
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
            Some(presses) if presses.len() <= MOST && presses.is_sorted_by_key(|(at, _)| *at) => Ok(Self(presses)),
            _ => Err(format!(
                "must be up to {MOST} presses in order, like 0-burst_3200-edge: milliseconds, then one, \
                 burst, stream, stop or edge"
            )),
        }
    }
}

impl fmt::Display for Play {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (at, press)) in self.presses().enumerate() {
            let separator = if index == 0 { "" } else { "_" };
            write!(f, "{separator}{}-{}", at / MILLISECOND, press.name())?;
        }
        Ok(())
    }
}

/// A moment of a scene, in milliseconds, as an address spells it. There is none after the last.
pub(super) fn moment(millis: &str) -> Option<Micros> {
    let millis: Micros = millis.parse().ok()?;
    Some(millis.saturating_mul(MILLISECOND).min(END))
}
