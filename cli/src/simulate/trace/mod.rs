//! Replays a trace and prints the decision about each request, in order.

mod line;
mod output;

use std::io::{BufWriter, Write, stdout};

use tollgate::RuleSet;

use self::{
    line::TraceLine,
    output::{DecisionLine, KeyErrorLine},
};
use super::{input::Input, progress::Progress, replay::Replay};
use crate::common::output::Failure;

pub(crate) fn replay(
    rules: &RuleSet,
    replay: &mut Replay,
    input: &mut Input,
    progress: &mut Progress,
) -> Result<(), Failure> {
    let mut output = BufWriter::with_capacity(1 << 16, stdout().lock());
    let result = replay_lines(rules, replay, input, progress, &mut output);
    output.flush().map_err(Failure::from_write)?;
    result?;
    progress.finish(input);
    replay.warn_if_nothing_was_held(rules, "the field duration_us");
    Ok(())
}

fn replay_lines(
    rules: &RuleSet,
    replay: &mut Replay,
    input: &mut Input,
    progress: &mut Progress,
    output: &mut impl Write,
) -> Result<(), Failure> {
    let mut has_warned = false;
    while let Some(line) = input.next()? {
        if !line.trim_ascii().is_empty() {
            let line = TraceLine::parse(line);
            let line = line.map_err(|reason| format!("{}:{}: {reason}", input.name(), input.lines()))?;
            if let Some(field) = line.unknown_field.as_ref().filter(|_| !has_warned) {
                has_warned = true;
                let position = format!("{}:{}", input.name(), input.lines());
                progress.warn(&format!(
                    "{position}: unknown field {field:?}; unknown fields are ignored"
                ));
            }
            decide(rules, replay, line, output)?;
        }
        progress.update(input);
        // A program that sends one request at a time gets each decision at once.
        if input.may_block() {
            output.flush().map_err(Failure::from_write)?;
        }
    }
    Ok(())
}

fn decide(rules: &RuleSet, replay: &mut Replay, line: TraceLine, output: &mut impl Write) -> Result<(), Failure> {
    let written = match rules.charges(&line.request) {
        Ok(charges) => {
            let charges = match line.cost {
                Some(cost) => charges.with_cost(cost),
                None => charges,
            };
            let decision = replay.decide(line.at, charges, line.duration)?;
            serde_json::to_writer(&mut *output, &DecisionLine::new(&decision))
        }
        Err(error) => serde_json::to_writer(&mut *output, &KeyErrorLine::new(&error)),
    };
    written.map_err(|error| Failure::from_write(error.into()))?;
    output.write_all(b"\n").map_err(Failure::from_write)
}
