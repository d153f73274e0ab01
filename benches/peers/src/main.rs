//! Measures tollgate against its peers: `scripts/bench --help`.

mod axum;
mod bench;
mod bytes;
mod cli;
mod figure;
mod gateway;
mod growth;
mod instructions;
mod memory;
mod naive;
mod observe;
mod picks;
mod redis;
mod report;
mod server;
mod sibling;
mod tier;
mod watched;
mod wrk;

use self::{
    cli::{Choice, Command},
    figure::Group,
    report::Report,
};

/// Everything that can be measured, in this order.
const GROUPS: &[Group] = &[
    redis::GROUP,
    bytes::GROUP,
    memory::GROUP,
    axum::GROUP,
    gateway::GROUP,
    growth::GROUP,
    instructions::GROUP,
    observe::GROUP,
];

fn main() {
    match cli::command(std::env::args().skip(1), GROUPS) {
        Command::Help => print!("{}", cli::help()),
        Command::List => print!("{}", cli::list(GROUPS)),
        Command::Wrong(why) => {
            eprintln!("{why}; --help and --list say what there is");
            std::process::exit(2);
        }
        Command::Measure(choice) => measure(&choice),
    }
}

fn measure(choice: &Choice) {
    let bench = choice.bench();
    let mut report = Report::new(choice.count(GROUPS));
    for group in GROUPS {
        for figure in group.figures.iter().filter(|figure| choice.has(figure.name)) {
            report.begin(figure.name);
            report.figure(figure, (figure.measure)(&bench));
        }
        for growth in group.growths.iter().filter(|growth| choice.has_growth(growth)) {
            report.begin(growth.name);
            report.growth(growth, &(growth.measure)(&bench, growth.sizes));
        }
    }
    report.end();
    if let Some(file) = &choice.results {
        report.write(file, GROUPS);
    }
}
