//! Measures how many requests tollgate and other limiters admit against their limit: docs/exactness.md has the results.
//!
//! `scripts/exactness` builds and runs it. Every limiter gets the same traffic, in four scenarios. A scenario starts a redis-server of its
//! own and the nodes, which are processes of this program or of Node.js; the traffic generator sends them requests over pipes, and notes
//! on its own clock when it sent each request and when the answer arrived.

mod answer;
mod args;
mod fleet;
mod limiters;
mod limits;
mod machine;
mod node;
mod redis;
mod report;
mod scenarios;
mod traffic;
mod window_count;

use std::{fs, path::Path, process::ExitCode, time::Duration};

use tokio::task::LocalSet;

use self::{
    answer::Answer,
    args::Command,
    limits::{LIMIT, WINDOW},
    report::{
        results::{Results, Row},
        systems::{self, System},
        tables,
    },
    scenarios::{Measured, Scenario},
    window_count::Admitted,
};

const RESULTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/results.csv");
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/exactness.md");

fn main() -> ExitCode {
    match args::parse(std::env::args().skip(1)) {
        Ok(Command::Help) => print!("{}", args::HELP),
        Ok(Command::Node { limiter, redis }) => serve(&limiter, &redis),
        Ok(Command::Measure { filters }) => measure(&filters),
        Ok(Command::Tables) => write_tables(&read_results()),
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

/// Runs a node until its standard input ends.
#[tokio::main]
async fn serve(limiter: &str, redis: &str) {
    let limiter = limiters::start(limiter, redis).await.expect("a known limiter");
    node::serve(limiter).await;
}

/// Measures all systems that match, or all systems, in which case the results are written.
#[tokio::main(flavor = "current_thread")]
async fn measure(filters: &[String]) {
    let about = machine::describe();
    let is_selected = |text: &str| filters.is_empty() || filters.iter().any(|filter| text.contains(filter.as_str()));
    let runs: Vec<_> = Scenario::ALL
        .into_iter()
        .flat_map(|scenario| systems::ALL.iter().map(move |system| (scenario, system)))
        .filter(|(scenario, system)| !system.is_failure_mode || *scenario == Scenario::PausedRedis)
        .filter(|(scenario, system)| is_selected(&format!("{}/{}", scenario.id(), system.id)))
        .collect();
    let mut rows = Vec::new();
    for (number, (scenario, system)) in runs.iter().enumerate() {
        let row = LocalSet::new().run_until(async { row(*scenario, system).await }).await;
        eprintln!(
            "[{}/{}] {:>12} {:<32} {:>4} in a window, {:>4} seen, {:>5} admitted of {:>4}, {:>4} failed, {} unanswered, {} ms at most",
            number + 1,
            runs.len(),
            row.scenario,
            row.system,
            row.certain,
            row.seen,
            row.admitted,
            row.sent,
            row.failed,
            row.unanswered,
            row.slowest_ms
        );
        rows.push(row);
    }
    let results = Results { about, rows };
    match filters.is_empty() {
        true => {
            fs::write(RESULTS, results.to_csv()).expect("the folder of the package is writable");
            write_tables(&results);
        }
        false => print!("{}", results.to_csv()),
    }
}

async fn row(scenario: Scenario, system: &'static System) -> Row {
    let Measured { requests, late } = scenario.run(system.id).await;
    let first = requests
        .iter()
        .map(|request| request.sent)
        .min()
        .expect("some requests");
    let answered = requests
        .iter()
        .filter_map(|request| Some((request.sent, request.answer?)));
    let count = |wanted| answered.clone().filter(|(_, (_, answer))| *answer == wanted).count() as u64;
    let admitted: Vec<_> = answered
        .clone()
        .filter(|(_, (_, answer))| *answer == Answer::Admitted)
        .map(|(sent, (at, _))| Admitted {
            sent: sent - first,
            answered: at - first,
        })
        .collect();
    let span = admitted
        .iter()
        .map(|request| request.answered)
        .max()
        .unwrap_or_default();
    let allowance = scenario.allowance(system.algorithm, LIMIT, span);
    let slowest = answered.clone().map(|(sent, (at, _))| at - sent).max();
    Row {
        scenario: scenario.id().to_owned(),
        system: system.id.to_owned(),
        sent: requests.len() as u64,
        admitted: admitted.len() as u64,
        denied: count(Answer::Denied),
        failed: count(Answer::Failed),
        unanswered: requests.iter().filter(|request| request.answer.is_none()).count() as u64,
        certain: window_count::certain(WINDOW, &admitted) as u64,
        seen: window_count::seen(WINDOW, &admitted) as u64,
        allowance: allowance.unwrap_or(0).into(),
        slowest_ms: rounded_up(slowest.unwrap_or_default()),
        late_ms: rounded_up(late),
    }
}

fn rounded_up(duration: Duration) -> u64 {
    duration.as_micros().div_ceil(1000) as u64
}

fn read_results() -> Results {
    let csv = fs::read_to_string(RESULTS).expect("results.csv exists");
    Results::from_csv(&csv).expect("a file that this program wrote")
}

/// Replaces the tables of docs/exactness.md.
fn write_tables(results: &Results) {
    let page = fs::read_to_string(Path::new(PAGE)).expect("docs/exactness.md exists");
    fs::write(PAGE, tables::update(&page, results)).expect("docs/ is writable");
}
