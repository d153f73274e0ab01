//! Renders a report as text.

use std::time::Duration;

use super::{
    Count, LimitReport, MINUTE, Report,
    table::{ADMITTED, DENIED, REQUESTS, table},
};
use crate::{
    common::{grouped::grouped, output::Failure},
    simulate::format::{lines, minute, second, share},
};

/// Rows in the tables of keys and minutes.
const MAX_ROWS: usize = 10;

impl Report {
    /// Fails if no line of the log contains a request.
    pub(crate) fn render(&self, log: &str) -> Result<String, Failure> {
        let Some((earliest, latest)) = self.span else {
            let reason = match self.first_unreadable {
                Some((line, missing)) => format!("no line could be read: line {line} has {missing}"),
                None => "the log is empty".into(),
            };
            return Err(format!("{log}: {reason}").into());
        };
        let lines = lines(self.total.requests + self.unreadable);
        let (earliest, latest) = (second(earliest), second(latest));
        let mut text = format!("{log}: {lines}, {earliest} to {latest} UTC\n\n");
        text += &self.summary();
        text += &self.by_limit();
        self.limits.iter().for_each(|limit| text += &limit.top_keys());
        text += &self.worst_minutes();
        Ok(text)
    }

    fn summary(&self) -> String {
        let Count { requests, denied } = self.total;
        let missing_keys: u64 = self.missing_keys.values().sum();
        let admitted = requests - denied - self.unlimited - missing_keys;
        let max_delay = Duration::from_micros(self.max_delay);
        let mut rows = vec![
            ("requests", requests, String::new()),
            ("admitted", admitted, String::new()),
            ("denied", denied, String::new()),
            ("not limited", self.unlimited, "exempt, or no limit matches".into()),
        ];
        let missing_keys = self.missing_keys.iter();
        rows.extend(missing_keys.map(|(error, count)| ("without a key", *count, error.clone())));
        let shadows = "of the admitted: denied by a shadow limit only".into();
        rows.push(("shadow denials", self.shadow_denials, shadows));
        let delayed = format!("of the admitted: queued by a leaky bucket, for up to {max_delay:?}");
        rows.push(("delayed", self.delayed, delayed));
        let first = self
            .first_unreadable
            .map(|(line, missing)| format!("the first: line {line} has {missing}"));
        rows.extend(first.map(|first| ("unreadable lines", self.unreadable, first)));
        // Rows with a note are printed only if their count is not zero.
        let rows = rows.iter().filter(|(_, count, note)| *count > 0 || note.is_empty());
        rows.map(|row| self.row(row)).collect()
    }

    fn row(&self, (name, count, note): &(&str, u64, String)) -> String {
        let share = match *name {
            "requests" | "unreadable lines" => String::new(),
            _ => share(*count, self.total.requests),
        };
        let row = format!("{name:16}{:>13}{share:>10}  {note}", grouped(*count));
        format!("{}\n", row.trim_end())
    }

    fn by_limit(&self) -> String {
        let rows = self.limits.iter().map(|limit| (limit.title(), limit.count));
        let table = table("by limit", &[REQUESTS, ADMITTED, DENIED], rows);
        table + "(Each limit by itself. A request is admitted if no limit denies it; a denied request costs nothing.)\n"
    }

    fn worst_minutes(&self) -> String {
        let minutes = self.minutes.iter().map(|(minute, count)| (*minute, *count));
        let with_denials = minutes.filter(|(_, count)| count.denied > 0);
        let worst = Count::top(with_denials, MAX_ROWS).into_iter();
        match self.total.denied {
            0 if !self.missing_keys.is_empty() => String::new(),
            0 => "\nNo request was denied.\n".into(),
            _ => table(
                "worst minutes, UTC",
                &[REQUESTS, DENIED],
                worst.map(|(number, count)| (minute(number * MINUTE), count)),
            ),
        }
    }
}

impl LimitReport {
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
        let top = Count::top(keys, MAX_ROWS).into_iter();
        let head = match self.keys.len() {
            count if count > MAX_ROWS => {
                format!("{}: top {MAX_ROWS} of {} keys", self.title(), grouped(count as u64))
            }
            _ => format!("{}: by key", self.title()),
        };
        table(
            &head,
            &[REQUESTS, DENIED],
            top.map(|(key, count)| (key.to_owned(), count)),
        )
    }
}
