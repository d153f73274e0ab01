//! The answer to a request.

/// What a limiter answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Admitted,
    /// By the limit.
    Denied,
    /// The limiter could not decide.
    Failed,
}

impl Answer {
    pub fn letter(self) -> char {
        match self {
            Self::Admitted => 'A',
            Self::Denied => 'D',
            Self::Failed => 'F',
        }
    }

    pub fn from_letter(letter: &str) -> Option<Self> {
        [Self::Admitted, Self::Denied, Self::Failed]
            .into_iter()
            .find(|answer| letter.chars().eq([answer.letter()]))
    }

    /// The answer of an HTTP service behind a limit.
    pub fn from_status(status: u16) -> Self {
        match status {
            200 => Self::Admitted,
            429 => Self::Denied,
            _ => Self::Failed,
        }
    }
}
