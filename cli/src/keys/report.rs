//! The output of `peek` and `reset`, as text or JSON.

use std::{fmt::Write, time::Duration};

use serde_json::json;
use tollgate::{Decision, Key, Limit};

use crate::common::{
    key_state::KeyState,
    limit_summary::limit_summary,
    output::{self, Failure},
};

/// After the reset of a key that was held.
const RENEWED: &str = "\
A running process renews what it holds within a third of the limit's time_to_live:
the reset forgets only what stopped processes held.
";

pub(super) struct Report<'f> {
    pub(super) limit: &'f Limit,
    pub(super) key: &'f Key,
    pub(super) redis_key: String,
}

impl Report<'_> {
    pub(super) fn peeked(&self, state: &Decision, json: bool) -> Result<(), Failure> {
        if json {
            return self.json(state, &[("is_unused", KeyState::new(state).is_unused().into())]);
        }
        let mut text = self.head();
        let state = KeyState::new(state);
        let capacity = state.capacity();
        if let Some(held) = state.held() {
            line(&mut text, "held", &format!("{held} of {capacity}"));
        } else {
            line(&mut text, "remaining", &format!("{} of {capacity}", state.remaining()));
        }
        match state.full_in() {
            Some(_) if state.is_unused() => line(&mut text, "full in", "0s: the key is unused"),
            Some(full_in) => line(&mut text, "full in", &readable(full_in)),
            None => {}
        }
        output::print(&text)
    }

    pub(super) fn reset(&self, before: &Decision, state: &Decision, json: bool) -> Result<(), Failure> {
        let (before, after) = (KeyState::new(before), KeyState::new(state));
        if json {
            let mut more = vec![
                ("was_unused", before.is_unused().into()),
                ("remaining_before", before.remaining().into()),
            ];
            more.extend(before.held().map(|held| ("held_before", held.into())));
            return self.json(state, &more);
        }
        let mut text = self.head();
        let (name, was, is) = match (before.held(), after.held()) {
            (Some(before), Some(after)) => ("held", before, after),
            _ => ("remaining", before.remaining(), after.remaining()),
        };
        let was = match before.is_unused() {
            true => "the key was unused".to_owned(),
            false => format!("{was} before"),
        };
        line(&mut text, name, &format!("{is} of {}, {was}", after.capacity()));
        if before.held().is_some() && !before.is_unused() {
            text.push_str(RENEWED);
        }
        output::print(&text)
    }

    fn json(&self, state: &Decision, more: &[(&str, serde_json::Value)]) -> Result<(), Failure> {
        let mut value = KeyState::new(state).to_json();
        value["digest"] = json!(self.key.digest());
        value["redis_key"] = json!(self.redis_key);
        for (name, field) in more {
            value[*name] = field.clone();
        }
        output::print(&format!("{value:#}\n"))
    }

    fn head(&self) -> String {
        let mut text = String::new();
        line(
            &mut text,
            "limit",
            &format!("{}: {}", self.limit.name(), limit_summary(self.limit)),
        );
        line(&mut text, "key", self.key.as_str());
        line(&mut text, "in logs", &self.key.digest());
        line(&mut text, "in Redis", &self.redis_key);
        text
    }
}

fn line(text: &mut String, name: &str, value: &str) {
    writeln!(text, "{name:11}{value}").expect("writing to a string does not fail");
}

/// Formats a duration with its two largest units, rounded up to the second. Durations up to a second are exact.
fn readable(duration: Duration) -> String {
    let seconds = duration.as_micros().div_ceil(1_000_000);
    if seconds <= 1 {
        return format!("{duration:?}");
    }
    let units = [
        (seconds / 86_400, "d"),
        (seconds / 3_600 % 24, "h"),
        (seconds / 60 % 60, "m"),
        (seconds % 60, "s"),
    ];
    let largest_two = units.iter().skip_while(|(count, _)| *count == 0).take(2);
    let nonzero = largest_two.filter(|(count, _)| *count > 0);
    nonzero
        .map(|(count, unit)| format!("{count}{unit}"))
        .collect::<Vec<_>>()
        .join(" ")
}
