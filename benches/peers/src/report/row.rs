//! One measured row: four columns, none of which contains a blank.

use std::fmt;

use crate::figure::Mark;

pub struct Row {
    pub name: String,
    pub unit: &'static str,
    pub ours: f64,
    pub other: f64,
    pub mark: Option<Mark>,
}

impl Row {
    pub fn ratio(&self) -> f64 {
        self.ours / self.other
    }

    /// Whether its mark is met, where it has one.
    pub fn is_met(&self) -> Option<bool> {
        self.mark.map(|mark| mark.is_met(self.ratio()))
    }

    /// The columns, each with what belongs to it.
    pub fn columns(&self) -> [String; 4] {
        let number = |number| format!("{}{}", short(number), self.unit);
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

/// As many digits as mean something.
fn short(number: f64) -> String {
    match number.abs() {
        100.0.. => format!("{number:.0}"),
        10.0.. => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}
