//! Actions and commands, with their names in the page and its URL.

use std::str::FromStr;

use super::{history::NamedAction, pace::Speed};

/// What the user sends to the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Send one request.
    One,
    /// Send several requests at once.
    Burst,
    /// Start a steady stream.
    Stream,
    /// Stop the stream.
    Stop,
    /// Send as many requests as the limit just before a window's edge, and as many just after it.
    Edge,
    /// Send several times the limit for several windows.
    Overload,
}

impl NamedAction for Action {
    const ALL: &[Self] = &[
        Self::One,
        Self::Burst,
        Self::Stream,
        Self::Stop,
        Self::Edge,
        Self::Overload,
    ];

    const NAMES: &str = "one, burst, stream, stop, edge or overload";

    fn name(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Burst => "burst",
            Self::Stream => "stream",
            Self::Stop => "stop",
            Self::Edge => "edge",
            Self::Overload => "overload",
        }
    }

    fn is_stop(self) -> bool {
        self == Self::Stop
    }
}

/// A command of a page to its session.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Command {
    Act(Action),
    Pause,
    Resume,
    /// Advance by one step, then pause.
    Step,
    /// Advance to the next request, then pause.
    Next,
    SetSpeed(Speed),
}

impl FromStr for Command {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "pause" => Ok(Self::Pause),
            "resume" => Ok(Self::Resume),
            "step" => Ok(Self::Step),
            "next" => Ok(Self::Next),
            action => match action.strip_suffix('x') {
                Some(speed) => speed.parse().map(Self::SetSpeed),
                None => Action::parse(action).map(Self::Act).ok_or(()),
            },
        }
    }
}
