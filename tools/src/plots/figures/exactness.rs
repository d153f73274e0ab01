//! How many requests each limiter admitted in one window, as benches/exactness/results.csv has it.

use super::Figure;
use crate::{
    exactness::{
        results::{Results, Row},
        systems::{Algorithm, System},
    },
    svg::Page,
};

const RESULTS: &str = include_str!("../../../../benches/exactness/results.csv");

/// The limit that was measured, so counts are percentages.
const LIMIT: u64 = 100;
const LEFT: i64 = Page::MARGIN;

/// The file name of a figure, its scenario in the results, its title and a line of explanation.
const SCENARIOS: [[&str; 4]; 4] = [
    [
        "exactness-edge",
        "edge",
        "Two bursts at the edge of a window",
        "One node gets 150 requests before the edge of a window, and 150 after it.",
    ],
    [
        "exactness-overload",
        "overload",
        "Steady overload",
        "Four nodes get six times the limit, for six windows.",
    ],
    [
        "exactness-killed-node",
        "killed_node",
        "A node is killed and replaced",
        "Four nodes get six times the limit. One of them is killed, and another is started.",
    ],
    [
        "exactness-paused-redis",
        "paused_redis",
        "Redis is paused for two seconds",
        "Four nodes get six times the limit. Redis answers nothing for two windows.",
    ],
];

pub(super) fn draw() -> impl Iterator<Item = Figure> {
    let results = Results::from_csv(RESULTS).expect("benches/exactness/results.csv is a file of `scripts/exactness`");
    SCENARIOS.into_iter().map(move |scenario| figure(&results, scenario))
}

fn figure(results: &Results, [name, scenario, title, line]: [&'static str; 4]) -> Figure {
    let rows: Vec<_> = results.of(scenario).collect();
    let lines = [
        line,
        "The limit is 100 requests a second, so a count is also a percentage.",
    ];
    let mut page = Page::new(title, &lines);
    let highest = rows.iter().map(|row| row.certain.max(row.seen)).max().unwrap_or(0);
    let scale = Scale {
        hundreds: highest.div_ceil(LIMIT).max(2),
    };
    legend(&mut page);
    let mut algorithm = None;
    for row in &rows {
        let system = System::by_id(&row.system).expect("a known system");
        if algorithm != Some(system.algorithm) {
            algorithm = Some(system.algorithm);
            heading(&mut page, system.algorithm);
        }
        scale.draw(&mut page, row, system);
    }
    scale.axis(&mut page);
    let facts: Vec<_> = rows.iter().map(|row| description(row)).collect();
    let svg = page.finish(&format!("{}.", facts.join(". ")));
    Figure { name, svg, facts }
}

fn legend(page: &mut Page) {
    page.y += 56;
    let y = page.y;
    let middle = y - 10;
    page.bar("admitted", [LEFT, middle - 13], 40, 26);
    page.bar("offered", [LEFT + 48, middle - 13], 40, 26);
    page.text("note", [LEFT + 102, y], "most in one window: tollgate, others");
    page.diamond("attack", [690, middle]);
    page.text("note", [714, y], "seen by the service");
    page.line("bound", [1044, middle - 18], [1044, middle + 18]);
    page.text("note", [1062, y], "the limit");
}

fn heading(page: &mut Page, algorithm: Algorithm) {
    let name = algorithm.name();
    let (first, rest) = name.split_at(1);
    page.y += 62;
    page.text("name", [LEFT, page.y], &format!("{}{rest}", first.to_uppercase()));
}

/// The horizontal axis, from 0 to this many hundreds.
struct Scale {
    hundreds: u64,
}

impl Scale {
    fn x(&self, count: u64) -> i64 {
        let width = Page::RIGHT - LEFT - 20;
        LEFT + width * count as i64 / (self.hundreds * LIMIT) as i64
    }

    fn draw(&self, page: &mut Page, row: &Row, system: &System) {
        page.text("note", [LEFT, page.y + 40], &system.name.replace('`', ""));
        page.text("note end", [Page::RIGHT, page.y + 40], &counts(row));
        let [top, bottom] = [page.y + 50, page.y + 88];
        let middle = (top + bottom) / 2;
        let class = if system.id.starts_with("tollgate_") {
            "admitted"
        } else {
            "offered"
        };
        page.bar(class, [LEFT, middle - 13], self.x(row.certain) - LEFT, 26);
        for hundred in 0..=self.hundreds {
            let class = if hundred == 1 { "bound" } else { "grid" };
            let x = self.x(hundred * LIMIT);
            page.line(class, [x, top], [x, bottom]);
        }
        page.diamond("attack", [self.x(row.seen), middle]);
        page.y = bottom;
    }

    fn axis(&self, page: &mut Page) {
        page.y += 40;
        for hundred in 0..=self.hundreds {
            let class = match hundred {
                0 => "axis",
                last if last == self.hundreds => "axis end",
                _ => "axis middle",
            };
            page.text(class, [self.x(hundred * LIMIT), page.y], &(hundred * LIMIT).to_string());
        }
        page.y += 30;
    }
}

/// The counts of a row, with errors if there are any.
fn counts(row: &Row) -> String {
    match row.failed {
        0 => row.certain.to_string(),
        failed => format!("{}, {failed} errors", row.certain),
    }
}

fn description(row: &Row) -> String {
    let system = System::by_id(&row.system).expect("a known system");
    format!(
        "{} ({}): {} in one window, {} seen, {} admitted in total, {} errors",
        system.name.replace('`', ""),
        system.algorithm.name(),
        row.certain,
        row.seen,
        row.admitted,
        row.failed
    )
}
