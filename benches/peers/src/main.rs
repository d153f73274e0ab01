//! Measures tollgate against its peers: `scripts/bench --help`.

mod axum;
mod benchmark;
mod bytes;
mod cli;
mod gateway;
mod instructions;
mod load;
mod memory;
mod naive;
mod observe;
mod redis;
mod report;
mod rng;
mod runner;
mod scaling;
mod server;
mod service;
mod subprocess;
mod tier;
mod wrk;

use self::{
    benchmark::Group,
    cli::{Command, Selection},
    report::Report,
};

/// All groups, in the order of the report.
const GROUPS: &[Group] = &[
    redis::GROUP,
    load::GROUP,
    bytes::GROUP,
    memory::GROUP,
    axum::GROUP,
    gateway::GROUP,
    service::GROUP,
    scaling::GROUP,
    instructions::GROUP,
    observe::GROUP,
];

fn main() {
    match cli::command(std::env::args().skip(1), GROUPS) {
        Command::Help => print!("{}", cli::help()),
        Command::List => print!("{}", cli::list(GROUPS)),
        Command::ConfigError(error) => {
            eprintln!("{error}; see --help and --list");
            std::process::exit(2);
        }
        Command::Measure(selection) => measure(&selection),
    }
}

fn measure(selection: &Selection) {
    let runner = selection.runner();
    let mut report = Report::new(selection.count(GROUPS));
    for group in GROUPS {
        for benchmark in group
            .benchmarks
            .iter()
            .filter(|benchmark| selection.selects(benchmark.name))
        {
            report.begin(benchmark.name);
            report.benchmark(benchmark, (benchmark.measure)(&runner));
        }
        for scaling in group
            .scalings
            .iter()
            .filter(|scaling| selection.selects_scaling(scaling))
        {
            report.begin(scaling.name);
            report.scaling(scaling, &(scaling.measure)(&runner, scaling.sizes));
        }
    }
    report.end();
    if let Some(file) = &selection.results {
        report.write(file, GROUPS);
    }
}
