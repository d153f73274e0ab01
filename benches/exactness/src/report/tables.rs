//! The tables of docs/exactness.md: between `<!-- results: NAME -->` and `<!-- end of results -->`.

use super::{
    results::{Results, Row},
    systems::System,
};

const BEGIN: &str = "<!-- results: ";
const BEGIN_END: &str = " -->\n";
const END: &str = "<!-- end of results -->";

/// The page with its tables replaced by those of the results.
///
/// # Panics
/// If a marker is not closed, or if the results have no such table.
pub fn update(page: &str, results: &Results) -> String {
    let mut parts = page.split(BEGIN);
    let mut updated = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(BEGIN_END).expect("a marker ends with its line");
        let (_, rest) = rest.split_once(END).expect("a marker for the end of the table");
        let content = match name {
            "about" => about(results),
            scenario => table(results, scenario),
        };
        updated += &format!("{BEGIN}{name}{BEGIN_END}{content}{END}{rest}");
    }
    updated
}

fn about(results: &Results) -> String {
    let rows = results
        .about
        .iter()
        .map(|(name, value)| format!("| {name} | {value} |\n"));
    format!("| | |\n| --- | --- |\n{}", rows.collect::<String>())
}

fn table(results: &Results, scenario: &str) -> String {
    let rows: Vec<_> = results.of(scenario).collect();
    assert!(!rows.is_empty(), "results.csv has no rows of {scenario}");
    let has_allowance = rows.iter().all(|row| row.allowance > 0);
    let [head, line] = match has_allowance {
        true => [" of what the algorithm allows |", " ---: |"],
        false => ["", ""],
    };
    let mut table = format!(
        "| limiter | algorithm | most in one window | seen by the service | admitted in total |{head} errors | slowest |\n\
         | --- | --- | ---: | ---: | ---: |{line} ---: | ---: |\n"
    );
    for row in rows {
        table += &line_of(row, has_allowance);
    }
    table
}

fn line_of(row: &Row, has_allowance: bool) -> String {
    let system = System::by_id(&row.system).expect("a known system");
    let allowance = match has_allowance {
        true => format!(" {} of {} |", percent(row.admitted, row.allowance), row.allowance),
        false => String::new(),
    };
    format!(
        "| {} | {} | {} | {} | {} |{allowance} {} | {} ms |\n",
        system.name,
        system.algorithm.name(),
        row.certain,
        row.seen,
        row.admitted,
        row.failed,
        row.slowest_ms
    )
}

/// With one decimal, rounded to nearest.
pub fn percent(part: u64, whole: u64) -> String {
    let thousandths = (2000 * part + whole) / (2 * whole);
    format!("{}.{}%", thousandths / 10, thousandths % 10)
}
