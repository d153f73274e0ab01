//! docs/exactness.md has the results of benches/exactness/results.csv, which are of one run of the current systems.

#[path = "../../benches/exactness/src/report"]
#[allow(dead_code, unreachable_pub, reason = "the package exactness writes results, too")]
mod report {
    pub(crate) mod results;
    pub(crate) mod systems;
    pub(crate) mod tables;
}

use std::fs;

use report::{results::Results, systems, tables};
use support::project::root;

const SCENARIOS: [&str; 4] = ["edge", "overload", "killed_node", "paused_redis"];

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap()
}

fn results() -> Results {
    Results::from_csv(&read("benches/exactness/results.csv")).unwrap()
}

#[test]
fn the_tables_of_the_page_are_those_of_the_results() {
    let page = read("docs/exactness.md");
    for name in SCENARIOS.into_iter().chain(["about"]) {
        let marker = format!("<!-- results: {name} -->");
        assert_eq!(page.matches(&marker).count(), 1, "{marker}");
    }
    // Not by assert_eq!, which would print both.
    assert!(
        tables::update(&page, &results()) == page,
        "docs/exactness.md: `scripts/exactness --tables` updates it"
    );
}

#[test]
fn the_readme_has_the_results() {
    let results = results();
    let of = |scenario, system: &str| results.of(scenario).find(|row| row.system == system).unwrap();
    let admitted = |system| {
        let row = of("overload", system);
        tables::percent(row.admitted, row.allowance)
    };
    let slowest = |system| format!("{} ms", of("paused_redis", system).slowest_ms);
    let [ours, governor, axum_limit] = ["tollgate_fixed_window", "governor", "axum_limit_fixed_window"];
    let [limitador, cached] = ["limitador_redis", "limitador_cached"];
    let [flexible, insured] = ["rate_limiter_flexible", "rate_limiter_flexible_insured"];
    let [
        ours_admitted,
        governor,
        axum_admitted,
        limitador_admitted,
        cached_admitted,
        flexible_admitted,
    ] = [ours, governor, axum_limit, limitador, cached, flexible].map(admitted);
    let overload = format!(
        "allows | {ours_admitted} | as governor | {governor} | {axum_admitted} | {limitador_admitted}; cached {cached_admitted} | \
         {flexible_admitted} | not measured |"
    );
    let [ours, axum_limit, limitador, cached, flexible, insured] =
        [ours, axum_limit, limitador, cached, flexible, insured].map(slowest);
    let paused = format!(
        "two seconds | {ours} | | | {axum_limit} | {limitador}; cached {cached} | \
         {flexible}; {insured} with a timeout and an insurance limiter | not measured |"
    );
    for row in [overload, paused] {
        assert!(read("README.md").contains(&row), "README.md: {row}");
    }
}

#[test]
fn a_changed_result_changes_the_page() {
    let page = read("docs/exactness.md");
    for row in 0..results().rows.len() {
        let mut changed = results();
        changed.rows[row].certain += 1;
        assert!(tables::update(&page, &changed) != page, "row {row}");
    }
}

#[test]
fn results_have_every_system_in_every_scenario() {
    let results = results();
    let measured: Vec<_> = results.rows.iter().map(|row| (&*row.scenario, &*row.system)).collect();
    let expected = SCENARIOS.into_iter().flat_map(|scenario| {
        let systems = systems::ALL.iter();
        let systems = systems.filter(move |system| !system.is_failure_mode || scenario == "paused_redis");
        systems.map(move |system| (scenario, system.id))
    });
    assert_eq!(measured, expected.collect::<Vec<_>>());
}

#[test]
fn results_account_for_every_request() {
    for row in results().rows {
        let answered = row.admitted + row.denied + row.failed;
        assert_eq!(answered + row.unanswered, row.sent, "{} {}", row.scenario, row.system);
    }
}

#[test]
fn results_are_written_as_they_are_read() {
    assert_eq!(results().to_csv(), read("benches/exactness/results.csv"));
}

/// What tollgate promises. In the last scenario Redis fails, and the failure mode decides.
#[test]
fn no_window_has_more_than_the_log_allows() {
    let results = results();
    let logs = results.rows.iter().filter(|row| row.system == "tollgate_sliding_log");
    let logs: Vec<_> = logs.filter(|row| row.scenario != "paused_redis").collect();
    assert_eq!(logs.len(), 3);
    assert!(logs.iter().all(|row| row.certain <= 100));
}
