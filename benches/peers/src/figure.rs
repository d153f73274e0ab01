//! What can be measured: figures, which have a mark to meet, and growths, which show a cost as something grows.

use std::fmt;

use crate::bench::{Bench, Pair};

/// Figures and growths that are measured alike.
pub struct Group {
    pub title: &'static str,
    /// How it is measured, for whoever doubts a number.
    pub how: &'static str,
    pub figures: &'static [Figure],
    pub growths: &'static [Growth],
}

/// Two numbers measured side by side.
pub struct Figure {
    pub name: &'static str,
    pub unit: &'static str,
    /// Whose the other number is.
    pub against: &'static str,
    pub mark: Option<Mark>,
    pub measure: fn(&Bench) -> Pair,
    /// Said where the mark is missed: what was tried, and what bounds it.
    pub bound: &'static str,
}

impl Figure {
    pub const fn new(
        name: &'static str,
        unit: &'static str,
        against: &'static str,
        measure: fn(&Bench) -> Pair,
    ) -> Self {
        Self {
            name,
            unit,
            against,
            mark: None,
            measure,
            bound: "",
        }
    }

    pub const fn at_least(mut self, ratio: f64) -> Self {
        self.mark = Some(Mark::AtLeast(ratio));
        self
    }

    pub const fn at_most(mut self, ratio: f64) -> Self {
        self.mark = Some(Mark::AtMost(ratio));
        self
    }

    pub const fn bound(mut self, bound: &'static str) -> Self {
        self.bound = bound;
        self
    }
}

/// The cost of a decision at several sizes, each against the smallest.
pub struct Growth {
    pub name: &'static str,
    pub unit: &'static str,
    pub sizes: &'static [usize],
    /// The cost at each size.
    pub measure: fn(&Bench, &[usize]) -> Vec<f64>,
    /// Why it is flat, or why it is not.
    pub why: &'static str,
}

impl Growth {
    pub fn row_name(&self, size: usize) -> String {
        format!("{}_{size}", self.name)
    }
}

/// What a ratio, ours / other, has to be.
#[derive(Clone, Copy)]
pub enum Mark {
    AtLeast(f64),
    AtMost(f64),
}

impl Mark {
    pub fn is_met(self, ratio: f64) -> bool {
        match self {
            Self::AtLeast(least) => ratio >= least,
            Self::AtMost(most) => ratio <= most,
        }
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(least) => write!(f, "at least {least}"),
            Self::AtMost(most) => write!(f, "at most {most}"),
        }
    }
}
