//! Everybody is answered.

use super::{promise::Promise, run::Run};
use crate::load::PATIENCE;

pub(super) fn promise(run: &Run) -> Promise {
    let mut broken = Vec::new();
    let (mut unanswered, mut stalled, mut not_allowed) = (0, 0, 0);
    for record in &run.records {
        let mode = record.mode.name();
        match &record.answer {
            // Its client has given up, when it could hardly have been answered.
            Err(_) if run.timeline.stood_still(record.began, record.ended) > PATIENCE / 2 => stalled += 1,
            Err(error) => {
                unanswered += 1;
                broken.push(format!("/{mode} of process {}: {error}", record.process));
            }
            Ok(answer) if !answer.is_allowed(record.mode) => {
                not_allowed += 1;
                broken.push(format!("/{mode} of process {}: {answer}", record.process));
            }
            Ok(_) => {}
        }
    }
    let requests = run.records.len();
    Promise {
        words: "every request is answered, and as its layer may: open with 200 or 429, closed with 200, 429 or 503, and \
                local with 200 or 429 and never unchecked",
        figures: vec![format!(
            "{requests} requests, {unanswered} without an answer, {not_allowed} with one that is not allowed; {stalled} not \
             judged, because the machine stood still for most of the {PATIENCE:?} that they had"
        )],
        broken,
    }
}
