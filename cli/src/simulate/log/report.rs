//! Reads a log and reports on all of its requests.

use std::io::{Write, stdout};

use http::HeaderName;
use tollgate::RuleSet;

use super::{line::Line, replay::Replay};
use crate::{
    common::failure::Failure,
    simulate::{input::Input, ledger::Ledger, progress::Progress, report::Report},
};

pub(crate) fn report(
    rules: &RuleSet,
    ledger: &Ledger,
    input: &mut Input,
    progress: &mut Progress,
    user_header: Option<&HeaderName>,
) -> Result<(), Failure> {
    let mut report = Report::of(&rules.limits());
    let mut replay = Replay::new(user_header);
    while let Some(line) = input.next()? {
        let read = Line::read(line).and_then(|line| replay.request(&line).map(|request| (line.at, request)));
        match read {
            Err(reason) => report.unreadable(input.lines(), reason),
            Ok((at, request)) => match rules.charges(request) {
                Err(error) => report.keyless(at, &error),
                Ok(charges) => report.decided(at, &ledger.decide(at, charges)?),
            },
        }
        progress.keep(input);
    }
    progress.tell(input);
    let told = report.told(input.name())?;
    stdout().write_all(told.as_bytes()).map_err(Failure::of_writing)
}
