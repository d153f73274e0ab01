//! What is printed of a key.

use std::{fmt::Write, time::Duration};

use serde_json::json;
use tollgate::{Decision, Key, Limit};

use crate::common::{failure::Failure, key_state::KeyState, output};

pub(super) struct Report<'f> {
    pub(super) limit: &'f Limit,
    pub(super) key: &'f Key,
    pub(super) redis_key: String,
}

impl Report<'_> {
    pub(super) fn peeked(&self, state: &Decision, json: bool) -> Result<(), Failure> {
        if json {
            return self.json(state, &[("is_unused", KeyState::of(state).is_unused().into())]);
        }
        let mut text = self.head();
        let state = KeyState::of(state);
        let capacity = self.limit.rule().capacity();
        line(&mut text, "remaining", &format!("{} of {capacity}", state.remaining()));
        match state.is_unused() {
            true => line(&mut text, "full in", "now: nothing is used by this key"),
            false => line(&mut text, "full in", &readable(state.full_in())),
        }
        output::print(&text)
    }

    pub(super) fn reset(&self, before: &Decision, after: &Decision, json: bool) -> Result<(), Failure> {
        let remaining = KeyState::of(before).remaining();
        if json {
            let was_unused = KeyState::of(before).is_unused().into();
            return self.json(
                after,
                &[("was_unused", was_unused), ("remaining_before", remaining.into())],
            );
        }
        let mut text = self.head();
        let capacity = self.limit.rule().capacity();
        let before = match KeyState::of(before).is_unused() {
            true => "nothing was used by this key".to_owned(),
            false => format!("{remaining} before"),
        };
        let after = KeyState::of(after).remaining();
        line(&mut text, "remaining", &format!("{after} of {capacity}, {before}"));
        output::print(&text)
    }

    fn json(&self, state: &Decision, more: &[(&str, serde_json::Value)]) -> Result<(), Failure> {
        let mut value = KeyState::of(state).to_json();
        value["digest"] = json!(self.key.digest());
        value["redis_key"] = json!(self.redis_key);
        for (name, field) in more {
            value[*name] = field.clone();
        }
        output::print(&format!("{value:#}\n"))
    }

    fn head(&self) -> String {
        let rule = self.limit.rule();
        let mut text = String::new();
        line(
            &mut text,
            "limit",
            &format!("{}: {}, {}", self.limit.name(), rule.quota(), rule.name()),
        );
        line(&mut text, "key", self.key.as_str());
        line(&mut text, "in logs", &self.key.digest());
        line(&mut text, "in Redis", &self.redis_key);
        text
    }
}

fn line(text: &mut String, name: &str, value: &str) {
    writeln!(text, "{name:11}{value}").expect("a string takes any text");
}

/// In the largest two units, rounded up to the second; what is shorter than that, as it is.
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
    let from_the_largest = units.iter().skip_while(|(count, _)| *count == 0).take(2);
    let written = from_the_largest.filter(|(count, _)| *count > 0);
    written
        .map(|(count, unit)| format!("{count}{unit}"))
        .collect::<Vec<_>>()
        .join(" ")
}
