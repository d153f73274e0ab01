//! Every request is answered.

use super::{Invariant, Run};
use crate::load::CLIENT_TIMEOUT;

pub(super) fn check(run: &Run) -> Invariant {
    let mut violations = Vec::new();
    let (mut unanswered, mut stalled, mut not_allowed) = (0, 0, 0);
    for record in &run.records {
        let mode = record.mode.name();
        match &record.answer {
            // The client timed out in a stall that left the process hardly any time to respond.
            Err(_) if run.timeline.longest_stall(record.began, record.ended) > CLIENT_TIMEOUT / 2 => stalled += 1,
            Err(error) => {
                unanswered += 1;
                violations.push(format!("/{mode} of process {}: {error}", record.process));
            }
            Ok(answer) if !answer.is_allowed(record.mode) => {
                not_allowed += 1;
                violations.push(format!("/{mode} of process {}: {answer}", record.process));
            }
            Ok(_) => {}
        }
    }
    let requests = run.records.len();
    Invariant {
        description: "every request is answered as its failure mode allows: open with 200 or 429, closed with 200, 429 or \
                      503, local with 200 or 429 and never unchecked",
        checked: requests - stalled,
        measurements: vec![format!(
            "{requests} requests, {unanswered} without a response, {not_allowed} with a response that is not allowed; {stalled} \
             ignored, because the machine stalled for most of the client timeout of {CLIENT_TIMEOUT:?}"
        )],
        violations,
    }
}
