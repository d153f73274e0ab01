//! Replays an access log and prints a report.

mod line;
mod quoted;
mod request;
mod time;

use std::io::{Write, stdout};

use http::HeaderName;
use tollgate::RuleSet;

use self::{line::Line, request::ReusedRequest};
use super::{input::Input, progress::Progress, report::Report, store::SimulationStore};
use crate::common::output::Failure;

pub(crate) fn replay(
    rules: &RuleSet,
    store: &SimulationStore,
    input: &mut Input,
    progress: &mut Progress,
    user_header: Option<&HeaderName>,
) -> Result<(), Failure> {
    let mut report = Report::new(&rules.limits());
    let mut request = ReusedRequest::new(user_header);
    while let Some(line) = input.next()? {
        let parsed = Line::parse(line).and_then(|line| request.set(&line).map(|request| (line.at, request)));
        match parsed {
            Err(missing) => report.add_unreadable(input.lines(), missing),
            Ok((at, request)) => match rules.charges(request) {
                Err(error) => report.add_missing_key(at, &error),
                Ok(charges) => report.add_decision(at, &store.decide(at, charges)?),
            },
        }
        progress.update(input);
    }
    progress.finish(input);
    let text = report.render(input.name())?;
    stdout().write_all(text.as_bytes()).map_err(Failure::from_write)
}
