//! What the command line asks for.

use std::{path::PathBuf, time::Duration};

use crate::{
    bench::Bench,
    figure::{Group, Growth},
};

/// Where the results of a whole run belong.
const RESULTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../RESULTS.md");

pub enum Command {
    Help,
    List,
    Wrong(String),
    Measure(Choice),
}

/// What to measure, and how thoroughly.
#[derive(Default)]
pub struct Choice {
    /// Names, or what they begin with. None means all.
    names: Vec<String>,
    quick: bool,
    pub results: Option<PathBuf>,
}

pub fn command(arguments: impl Iterator<Item = String>, groups: &[Group]) -> Command {
    let mut choice = Choice::default();
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        match &*argument {
            "--help" | "-h" => return Command::Help,
            "--list" => return Command::List,
            "--quick" => choice.quick = true,
            "--results" => match arguments.next() {
                Some(file) => choice.results = Some(file.into()),
                None => return Command::Wrong("--results needs a file".into()),
            },
            option if option.starts_with('-') => return Command::Wrong(format!("there is no option {option}")),
            name if !names(groups).any(|known| known.starts_with(name)) => {
                return Command::Wrong(format!("there is no figure whose name begins with {name}"));
            }
            name => choice.names.push(name.to_owned()),
        }
    }
    // What is quick or partial does not replace what took its time.
    if choice.results.is_none() && choice.names.is_empty() && !choice.quick {
        choice.results = Some(RESULTS.into());
    }
    Command::Measure(choice)
}

impl Choice {
    pub fn bench(&self) -> Bench {
        match self.quick {
            true => Bench::new(3, Duration::from_millis(100)),
            false => Bench::new(7, Duration::from_secs(1)),
        }
    }

    pub fn has(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|wanted| name.starts_with(&**wanted))
    }

    /// A growth is measured as a whole: every size is compared with the smallest.
    pub fn has_growth(&self, growth: &Growth) -> bool {
        growth.sizes.iter().any(|&size| self.has(&growth.row_name(size)))
    }

    /// How many figures and growths there are to measure.
    pub fn count(&self, groups: &[Group]) -> usize {
        let figures = groups.iter().flat_map(|group| group.figures);
        let growths = groups.iter().flat_map(|group| group.growths);
        figures.filter(|figure| self.has(figure.name)).count()
            + growths.filter(|growth| self.has_growth(growth)).count()
    }
}

/// The names of all rows there can be.
fn names(groups: &[Group]) -> impl Iterator<Item = String> {
    let figures = groups
        .iter()
        .flat_map(|group| group.figures)
        .map(|figure| figure.name.to_owned());
    let growths = groups.iter().flat_map(|group| group.growths);
    figures.chain(growths.flat_map(|growth| growth.sizes.iter().map(|&size| growth.row_name(size))))
}

pub fn help() -> &'static str {
    include_str!("../help.txt")
}

/// All there is to measure.
pub fn list(groups: &[Group]) -> String {
    let mut list = String::new();
    for group in groups {
        list.push_str(&format!("{}\n", group.title));
        for figure in group.figures {
            let mark = figure.mark.map(|mark| format!(", {mark}")).unwrap_or_default();
            list.push_str(&format!("  {:30} against {}{mark}\n", figure.name, figure.against));
        }
        for growth in group.growths {
            let (name, sizes) = (format!("{}_N", growth.name), growth.sizes);
            list.push_str(&format!("  {name:30} N = {sizes:?}\n"));
        }
    }
    list
}
