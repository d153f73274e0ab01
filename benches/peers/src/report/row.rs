//! A row of results: four columns without blanks.

use std::fmt;

use crate::benchmark::Target;

pub struct Row {
    pub name: String,
    pub unit: &'static str,
    pub ours: f64,
    pub other: f64,
    pub target: Option<Target>,
}

impl Row {
    pub fn ratio(&self) -> f64 {
        self.ours / self.other
    }

    /// Whether the target is met; `None` without a target.
    pub fn is_met(&self) -> Option<bool> {
        self.target.map(|target| target.is_met(self.ratio()))
    }

    /// Name, our number and the other with their unit, and the ratio.
    pub fn columns(&self) -> [String; 4] {
        let number = |number| format!("{}{}", format_number(number), self.unit);
        [
            self.name.clone(),
            number(self.ours),
            number(self.other),
            format!("{:.2}", self.ratio()),
        ]
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.columns().join(" "))
    }
}

/// Formats a number with at least three significant digits.
fn format_number(number: f64) -> String {
    match number.abs() {
        100.0.. => format!("{number:.0}"),
        10.0.. => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}
