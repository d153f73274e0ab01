//! The report in words.

use std::time::Duration;

use super::{
    count::Count,
    date,
    report::{ByLimit, MINUTE, Report},
    table::{ADMITTED, REFUSED, REQUESTS, table},
};
use crate::{
    common::{failure::Failure, grouped::grouped},
    simulate::numbers::{lines, share},
};

/// How many keys and minutes are worth telling of.
const MOST_ROWS: usize = 10;

impl Report {
    /// Or an error, of a log that tells of no request at all.
    pub(crate) fn told(&self, log: &str) -> Result<String, Failure> {
        let Some((earliest, latest)) = self.span else {
            let reason = match self.first_unreadable {
                Some((line, lacks)) => format!("none of its lines could be read: line {line} has {lacks}"),
                None => "it has no line".into(),
            };
            return Err(format!("{log}: {reason}").into());
        };
        let lines = lines(self.all.requests + self.unreadable);
        let (earliest, latest) = (date::second(earliest), date::second(latest));
        let mut told = format!("{log}: {lines}, {earliest} to {latest} UTC\n\n");
        told += &self.summary();
        told += &self.by_limit();
        self.limits.iter().for_each(|limit| told += &limit.top_keys());
        told += &self.worst_minutes();
        Ok(told)
    }

    fn summary(&self) -> String {
        let Count { requests, refused } = self.all;
        let keyless: u64 = self.keyless.values().sum();
        let admitted = requests - refused - self.unlimited - keyless;
        let wait = Duration::from_micros(self.longest);
        let mut rows = vec![
            ("requests", requests, String::new()),
            ("admitted", admitted, String::new()),
            ("refused", refused, String::new()),
            ("not limited", self.unlimited, "exempt, or no limit matches".into()),
        ];
        let lacking = self.keyless.iter();
        rows.extend(lacking.map(|(lacks, count)| ("without a key", *count, lacks.clone())));
        let shadows = "of the admitted: only a shadow refuses them".into();
        rows.push(("shadow refusals", self.shadow_refusals, shadows));
        let held = format!("of the admitted: they wait in a queue, for {wait:?} at the most");
        rows.push(("held back", self.held, held));
        let first = self
            .first_unreadable
            .map(|(line, lacks)| format!("the first: line {line} has {lacks}"));
        rows.extend(first.map(|first| ("unreadable lines", self.unreadable, first)));
        // What has to be explained is told only where it happened.
        let told = rows.iter().filter(|(_, count, note)| *count > 0 || note.is_empty());
        told.map(|row| self.row(row)).collect()
    }

    fn row(&self, (name, count, note): &(&str, u64, String)) -> String {
        let share = match *name {
            "requests" | "unreadable lines" => String::new(),
            _ => share(*count, self.all.requests),
        };
        let row = format!("{name:16}{:>13}{share:>10}  {note}", grouped(*count));
        format!("{}\n", row.trim_end())
    }

    fn by_limit(&self) -> String {
        let rows = self.limits.iter().map(|limit| (limit.title(), limit.count));
        let table = table("by limit", &[REQUESTS, ADMITTED, REFUSED], rows);
        table + "(Each limit by itself. A request passes if none of them refuses it, and else costs nothing.)\n"
    }

    fn worst_minutes(&self) -> String {
        let minutes = self.minutes.iter().map(|(minute, count)| (*minute, *count));
        let refusing = minutes.filter(|(_, count)| count.refused > 0);
        let worst = Count::worst(refusing, MOST_ROWS).into_iter();
        match self.all.refused {
            0 if !self.keyless.is_empty() => String::new(),
            0 => "\nNo request was refused.\n".into(),
            _ => table(
                "worst minutes, UTC",
                &[REQUESTS, REFUSED],
                worst.map(|(minute, count)| (date::minute(minute * MINUTE), count)),
            ),
        }
    }
}

impl ByLimit {
    fn title(&self) -> String {
        match self.is_shadow {
            true => format!("{} (shadow)", self.name),
            false => self.name.clone(),
        }
    }

    fn top_keys(&self) -> String {
        if self.keys.is_empty() {
            return String::new();
        }
        let keys = self.keys.iter().map(|(key, count)| (key.as_str(), *count));
        let top = Count::worst(keys, MOST_ROWS).into_iter();
        let head = match self.keys.len() {
            count if count > MOST_ROWS => {
                format!("{}: top {MOST_ROWS} of {} keys", self.title(), grouped(count as u64))
            }
            _ => format!("{}: by key", self.title()),
        };
        table(
            &head,
            &[REQUESTS, REFUSED],
            top.map(|(key, count)| (key.to_owned(), count)),
        )
    }
}
