//! The command line.

use std::{path::PathBuf, time::Duration};

use crate::{
    benchmark::{Group, Scaling},
    runner::Runner,
};

/// Where a full run writes its results.
const RESULTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../RESULTS.md");

pub enum Command {
    Help,
    List,
    ConfigError(String),
    Measure(Selection),
}

/// What to measure, and in how many rounds.
#[derive(Default)]
pub struct Selection {
    /// Prefixes of names. Empty means all.
    names: Vec<String>,
    quick: bool,
    pub results: Option<PathBuf>,
}

pub fn command(arguments: impl Iterator<Item = String>, groups: &[Group]) -> Command {
    let mut selection = Selection::default();
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        match &*argument {
            "--help" | "-h" => return Command::Help,
            "--list" => return Command::List,
            "--quick" => selection.quick = true,
            "--results" => match arguments.next() {
                Some(file) => selection.results = Some(file.into()),
                None => return Command::ConfigError("--results needs a file".into()),
            },
            option if option.starts_with('-') => return Command::ConfigError(format!("unknown option {option}")),
            name if !names(groups).any(|known| known.starts_with(name)) => {
                return Command::ConfigError(format!("no benchmark has a name that begins with {name}"));
            }
            name => selection.names.push(name.to_owned()),
        }
    }
    // A quick or partial run does not replace the results of a full one.
    if selection.results.is_none() && selection.names.is_empty() && !selection.quick {
        selection.results = Some(RESULTS.into());
    }
    Command::Measure(selection)
}

impl Selection {
    pub fn runner(&self) -> Runner {
        match self.quick {
            true => Runner::new(3, Duration::from_millis(100)),
            false => Runner::new(7, Duration::from_secs(1)),
        }
    }

    pub fn selects(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|wanted| name.starts_with(&**wanted))
    }

    /// A scaling is measured at all sizes, since each is compared with the smallest.
    pub fn selects_scaling(&self, scaling: &Scaling) -> bool {
        scaling.sizes.iter().any(|&size| self.selects(&scaling.row_name(size)))
    }

    /// The number of selected benchmarks and scalings.
    pub fn count(&self, groups: &[Group]) -> usize {
        let benchmarks = groups.iter().flat_map(|group| group.benchmarks);
        let scalings = groups.iter().flat_map(|group| group.scalings);
        benchmarks.filter(|benchmark| self.selects(benchmark.name)).count()
            + scalings.filter(|scaling| self.selects_scaling(scaling)).count()
    }
}

/// The names of all rows.
fn names(groups: &[Group]) -> impl Iterator<Item = String> {
    let benchmarks = groups
        .iter()
        .flat_map(|group| group.benchmarks)
        .map(|benchmark| benchmark.name.to_owned());
    let scalings = groups.iter().flat_map(|group| group.scalings);
    benchmarks.chain(scalings.flat_map(|scaling| scaling.sizes.iter().map(|&size| scaling.row_name(size))))
}

pub fn help() -> &'static str {
    include_str!("../help.txt")
}

/// All benchmarks and scalings.
pub fn list(groups: &[Group]) -> String {
    let mut list = String::new();
    for group in groups {
        list.push_str(&format!("{}\n", group.title));
        for benchmark in group.benchmarks {
            let target = benchmark.target.map(|target| format!(", {target}")).unwrap_or_default();
            list.push_str(&format!(
                "  {:30} against {}{target}\n",
                benchmark.name, benchmark.against
            ));
        }
        for scaling in group.scalings {
            let (name, sizes) = (format!("{}_N", scaling.name), scaling.sizes);
            list.push_str(&format!("  {name:30} N = {sizes:?}\n"));
        }
    }
    list
}
