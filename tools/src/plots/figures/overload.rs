//! What is decided in time when more is offered than Redis can decide, as benches/RESULTS.md has it.

use super::Figure;
use crate::svg::{Page, Point};

const RESULTS: &str = include_str!("../../../../benches/RESULTS.md");

/// The distance between 100% and 200% of the capacity, offered and decided.
const HUNDRED_OFFERED: i64 = 210;
const HUNDRED_DECIDED: i64 = 400;

const LEFT: i64 = 150;

pub(super) fn draw() -> Figure {
    let series = [
        Series::from_results("tollgate", "ours", "redis_overload_percent"),
        Series::from_results("A call per request", "naive", "naive_overload_percent"),
    ];
    let lines = [
        "In percent of the capacity: what each way decides without deadlines.",
        "A request is decided in time if Redis decides within 100 ms.",
    ];
    let mut page = Page::new("Decided in time, by what is offered", &lines);
    page.y += 60;
    let chart = Chart { top: page.y };
    chart.axes(&mut page);
    for series in &series {
        series.draw(&mut page, &chart);
    }
    page.y = chart.at([0, 0])[1] + 110;
    let facts: Vec<_> = series.iter().map(Series::description).collect();
    let svg = page.finish(&format!("{}.", facts.join(". ")));
    let name = "overload";
    Figure { name, svg, facts }
}

/// The position of 100% decided.
struct Chart {
    top: i64,
}

impl Chart {
    /// The position of a percentage offered, and a tenth of a percent decided.
    fn at(&self, [offered, decided]: [i64; 2]) -> Point {
        [
            LEFT + offered * HUNDRED_OFFERED / 100,
            self.top + (1000 - decided) * HUNDRED_DECIDED / 1000,
        ]
    }

    fn axes(&self, page: &mut Page) {
        for decided in [0, 500, 1000] {
            let class = if decided == 0 { "base" } else { "grid" };
            let left = self.at([0, decided]);
            page.line(class, left, self.at([500, decided]));
            page.text("axis end", [left[0] - 16, left[1] + 9], &format!("{}%", decided / 10));
        }
        for offered in (0..=500).step_by(100) {
            let [x, y] = self.at([offered, 0]);
            page.text("axis middle", [x, y + 42], &format!("{offered}%"));
        }
        let [x, y] = self.at([250, 0]);
        page.text("note middle", [x, y + 84], "offered");
    }
}

struct Series {
    name: &'static str,
    class: &'static str,
    /// Percent offered, and tenths of a percent decided in time.
    points: Vec<[i64; 2]>,
}

impl Series {
    /// The rows of a table `| name | measured | .. |`.
    fn from_results(name: &'static str, class: &'static str, table: &str) -> Self {
        let header = format!("| {table} |");
        let rows = RESULTS.lines().skip_while(|line| !line.starts_with(&header)).skip(2);
        let points: Option<Vec<_>> = rows.take_while(|row| row.starts_with('|')).map(point).collect();
        let points = points.filter(|points| !points.is_empty());
        let points = points.unwrap_or_else(|| panic!("benches/RESULTS.md has no table {table} of percentages"));
        Self { name, class, points }
    }

    fn draw(&self, page: &mut Page, chart: &Chart) {
        let points: Vec<_> = self.points.iter().map(|&point| chart.at(point)).collect();
        for ends in points.windows(2) {
            page.line(self.class, ends[0], ends[1]);
        }
        for &point in &points {
            match self.class {
                "ours" => page.square("admitted", point),
                _ => page.cross("denied", point),
            }
        }
        let last = points[points.len() - 1];
        page.text("note end", [last[0], last[1] - 22], self.name);
    }

    fn description(&self) -> String {
        let points = self.points.iter();
        let points = points.map(|[offered, decided]| format!("{}.{}% of {offered}%", decided / 10, decided % 10));
        format!("{}: {}", self.name, points.collect::<Vec<_>>().join(", "))
    }
}

fn point(row: &str) -> Option<[i64; 2]> {
    let mut columns = row.split('|').map(str::trim).skip(1);
    let offered = columns.next()?.parse().ok()?;
    let decided: f64 = columns.next()?.strip_suffix('%')?.parse().ok()?;
    Some([offered, (10.0 * decided).round() as i64])
}
