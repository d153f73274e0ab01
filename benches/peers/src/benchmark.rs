//! What can be measured: benchmarks, which compare two sides and may have a target, and scalings, which show a quantity by size.

use std::fmt;

use crate::runner::{Pair, Runner};

/// Benchmarks and scalings with one method.
pub struct Group {
    pub title: &'static str,
    /// How they are measured, in Markdown.
    pub method: &'static str,
    pub benchmarks: &'static [Benchmark],
    pub scalings: &'static [Scaling],
}

/// Two sides that are measured in turn.
pub struct Benchmark {
    pub name: &'static str,
    pub unit: &'static str,
    /// The name of the other side.
    pub against: &'static str,
    pub target: Option<Target>,
    pub measure: fn(&Runner) -> Pair,
    /// Printed if the target is missed: what bounds the result, and what was tried.
    pub bottleneck: &'static str,
}

impl Benchmark {
    pub const fn new(
        name: &'static str,
        unit: &'static str,
        against: &'static str,
        measure: fn(&Runner) -> Pair,
    ) -> Self {
        Self {
            name,
            unit,
            against,
            target: None,
            measure,
            bottleneck: "",
        }
    }

    pub const fn at_least(mut self, ratio: f64) -> Self {
        self.target = Some(Target::AtLeast(ratio));
        self
    }

    pub const fn at_most(mut self, ratio: f64) -> Self {
        self.target = Some(Target::AtMost(ratio));
        self
    }

    pub const fn bottleneck(mut self, bottleneck: &'static str) -> Self {
        self.bottleneck = bottleneck;
        self
    }
}

/// A quantity at several sizes, such as the cost of a decision, each relative to the smallest.
pub struct Scaling {
    pub name: &'static str,
    pub unit: &'static str,
    pub sizes: &'static [usize],
    /// The quantity at each size.
    pub measure: fn(&Runner, &[usize]) -> Vec<f64>,
    /// Why the quantity depends on the size, or why not.
    pub explanation: &'static str,
}

impl Scaling {
    pub fn row_name(&self, size: usize) -> String {
        format!("{}_{size}", self.name)
    }
}

/// The required ratio, ours / other.
#[derive(Clone, Copy)]
pub enum Target {
    AtLeast(f64),
    AtMost(f64),
}

impl Target {
    pub fn is_met(self, ratio: f64) -> bool {
        match self {
            Self::AtLeast(min) => ratio >= min,
            Self::AtMost(max) => ratio <= max,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(min) => write!(f, "at least {min}"),
            Self::AtMost(max) => write!(f, "at most {max}"),
        }
    }
}
