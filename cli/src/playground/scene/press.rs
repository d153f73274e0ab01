//! What a user can press for, as the page and a scene's address spell it.

use std::str::FromStr;

use super::pace::Speed;

/// What comes to the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Press {
    /// One request.
    One,
    /// As many at once as the settings say.
    Burst,
    /// A steady stream begins.
    Stream,
    /// It ends.
    Stop,
    /// As many as the limit just before a window's edge, and as many just after it.
    Edge,
}

impl Press {
    const ALL: [Self; 5] = [Self::One, Self::Burst, Self::Stream, Self::Stop, Self::Edge];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Burst => "burst",
            Self::Stream => "stream",
            Self::Stop => "stop",
            Self::Edge => "edge",
        }
    }
}

impl FromStr for Press {
    type Err = ();

    fn from_str(given: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|press| press.name() == given).ok_or(())
    }
}

/// What a page tells its scene.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Command {
    Press(Press),
    Pause,
    Resume,
    /// A little further, and no more.
    Step,
    /// To whatever comes next, and no further.
    Next,
    Speed(Speed),
}

impl FromStr for Command {
    type Err = ();

    fn from_str(given: &str) -> Result<Self, ()> {
        match given {
            "pause" => Ok(Self::Pause),
            "resume" => Ok(Self::Resume),
            "step" => Ok(Self::Step),
            "next" => Ok(Self::Next),
            press => match press.strip_suffix('x') {
                Some(speed) => speed.parse().map(Self::Speed),
                None => press.parse().map(Self::Press),
            },
        }
    }
}
