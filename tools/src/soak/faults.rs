//! The kinds of faults, and their order.

use crate::support::random::Random;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    Killed,
    Frozen,
    Flushed,
    ReadOnly,
    OutOfMemory,
    Busy,
    Slow,
    Cut,
    Silent,
    Disconnected,
    Garbage,
    Forbidden,
}

impl Fault {
    pub(crate) const ALL: [Self; 12] = [
        Self::Killed,
        Self::Frozen,
        Self::Flushed,
        Self::ReadOnly,
        Self::OutOfMemory,
        Self::Busy,
        Self::Slow,
        Self::Cut,
        Self::Silent,
        Self::Disconnected,
        Self::Garbage,
        Self::Forbidden,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Killed => "killed and restarted",
            Self::Frozen => "frozen",
            Self::Flushed => "scripts flushed",
            Self::ReadOnly => "made a replica",
            Self::OutOfMemory => "out of memory",
            Self::Busy => "busy with a script",
            Self::Slow => "200 ms away",
            Self::Cut => "cut mid-reply",
            Self::Silent => "half-open, silent",
            Self::Disconnected => "clients killed",
            Self::Garbage => "garbage in keys",
            Self::Forbidden => "EVALSHA forbidden",
        }
    }
}

/// All faults in random order, repeatedly, so that a few minutes cover each of them.
#[derive(Default)]
pub(crate) struct FaultSequence(Vec<Fault>);

impl FaultSequence {
    pub(crate) fn next(&mut self, random: &mut Random) -> Fault {
        if self.0.is_empty() {
            self.0 = Fault::ALL.to_vec();
            random.shuffle(&mut self.0);
        }
        self.0.pop().expect("the sequence has just been filled")
    }
}
