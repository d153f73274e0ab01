//! Reads a trace and answers each of its requests.

use std::io::{BufWriter, Write, stdout};

use tollgate::RuleSet;

use super::{
    answer::{Answer, Unanswered},
    line::Recorded,
};
use crate::{
    common::failure::Failure,
    simulate::{input::Input, ledger::Ledger, progress::Progress},
};

pub(crate) fn answer(
    rules: &RuleSet,
    ledger: &Ledger,
    input: &mut Input,
    progress: &mut Progress,
) -> Result<(), Failure> {
    let mut output = BufWriter::with_capacity(1 << 16, stdout().lock());
    let outcome = each(rules, ledger, input, progress, &mut output);
    output.flush().map_err(Failure::of_writing)?;
    outcome?;
    progress.tell(input);
    Ok(())
}

fn each(
    rules: &RuleSet,
    ledger: &Ledger,
    input: &mut Input,
    progress: &mut Progress,
    output: &mut impl Write,
) -> Result<(), Failure> {
    let mut is_warned = false;
    while let Some(line) = input.next()? {
        if !line.trim_ascii().is_empty() {
            let recorded = Recorded::read(line);
            let recorded = recorded.map_err(|reason| format!("{}:{}: {reason}", input.name(), input.lines()))?;
            if let Some(field) = recorded.unknown.as_ref().filter(|_| !is_warned) {
                is_warned = true;
                let place = format!("{}:{}", input.name(), input.lines());
                progress.warn(&format!(
                    "{place}: a request has no field {field:?}; unknown fields are ignored"
                ));
            }
            write(rules, ledger, recorded, output)?;
        }
        progress.keep(input);
        // Whoever asks line by line is answered line by line.
        if input.is_drained() {
            output.flush().map_err(Failure::of_writing)?;
        }
    }
    Ok(())
}

fn write(rules: &RuleSet, ledger: &Ledger, recorded: Recorded, output: &mut impl Write) -> Result<(), Failure> {
    let written = match rules.charges(&recorded.request) {
        Ok(charges) => {
            let charges = match recorded.cost {
                Some(cost) => charges.cost(cost),
                None => charges,
            };
            let decision = ledger.decide(recorded.at, charges)?;
            serde_json::to_writer(&mut *output, &Answer::of(&decision))
        }
        Err(error) => serde_json::to_writer(&mut *output, &Unanswered::of(&error)),
    };
    written.map_err(|error| Failure::of_writing(error.into()))?;
    output.write_all(b"\n").map_err(Failure::of_writing)
}
