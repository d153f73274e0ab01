//! Replays an access log and prints a report.

mod line;
mod quoted;
mod request;
mod time;

use std::{
    io::{Write, stdout},
    time::Duration,
};

use http::HeaderName;
use tollgate::{Micros, RuleSet};

use self::{line::Line, request::ReusedRequest};
use super::{input::Input, progress::Progress, replay::Replay, report::Report};
use crate::common::output::Failure;

/// What a log does not contain.
pub(crate) struct LogOptions<'a> {
    /// The header that is set to the user.
    pub(crate) user_header: Option<&'a HeaderName>,
    /// How long each request takes.
    pub(crate) duration: Duration,
}

pub(crate) fn replay(
    rules: &RuleSet,
    replay: &mut Replay,
    input: &mut Input,
    progress: &mut Progress,
    options: LogOptions<'_>,
) -> Result<(), Failure> {
    let mut report = Report::new(&rules.limits());
    let mut request = ReusedRequest::new(options.user_header);
    let duration = options.duration.as_micros() as Micros;
    while let Some(line) = input.next()? {
        let parsed = Line::parse(line).and_then(|line| request.set(&line).map(|request| (line.at, request)));
        match parsed {
            Err(missing) => report.add_unreadable(input.lines(), missing),
            Ok((at, request)) => match rules.charges(request) {
                Err(error) => report.add_missing_key(at, &error),
                Ok(charges) => report.add_decision(at, &replay.decide(at, charges, duration)?),
            },
        }
        progress.update(input);
    }
    progress.finish(input);
    replay.warn_if_nothing_was_held(rules, "--duration, as in --duration 250ms");
    let text = report.render(input.name())?;
    stdout().write_all(text.as_bytes()).map_err(Failure::from_write)
}
