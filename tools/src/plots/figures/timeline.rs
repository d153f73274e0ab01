//! What each algorithm makes of the same traffic, request by request.

use std::time::Duration;

use tollgate::{Algorithm, FixedWindow, LeakyBucket, Micros, Quota, Rule, SlidingCounter, SlidingLog, TokenBucket};

use super::figure::Figure;
use crate::{
    replay::{Seen, most_in_any, replay},
    svg::{Page, Point},
    traffic::Traffic,
};

const WINDOW: Micros = 10_000_000;
/// What is shown: three windows of traffic, and one in which the last of it leaves a queue.
const SCENE: Micros = 4 * WINDOW;
/// Requests of this long are on top of each other, the first at the bottom.
const COLUMN: Micros = WINDOW / 20;
/// From one mark to the next, in both directions.
const PITCH: i64 = 15;
/// How far those who leave a queue are below those who come.
const FAN: i64 = 56;

pub(super) fn draw(traffic: &Traffic) -> Figure {
    let quota = Quota::new(10, Duration::from_micros(WINDOW));
    let rules: [(&str, Rule); 5] = [
        ("Token bucket", TokenBucket::new(quota).rule()),
        ("Leaky bucket", LeakyBucket::new(quota).rule()),
        ("Fixed window", FixedWindow::new(quota).rule()),
        ("Sliding log", SlidingLog::new(quota).rule()),
        ("Sliding counter", SlidingCounter::new(quota).rule()),
    ];
    let arrivals = (traffic.arrivals)(quota);

    let lines = ["Each limit is 10 per 10 s, with default settings, on a clock that begins at 0 s."];
    let mut page = Page::new(traffic.title, &lines);
    legend(&mut page);
    let offered = format!("{} requests", arrivals.len());
    let mut facts = vec![format!("Offered: {offered}")];
    let row = Row::begin(&mut page, "Offered", &offered, &arrivals, 0);
    each_mark(&arrivals, row.ground, |_, at| row.page.square("offered", at));
    for (name, rule) in rules {
        let seen = replay(&rule, &arrivals);
        let told = told(&seen);
        facts.push(format!("{name}: {told}"));
        let fan = if rule.queues() { FAN } else { 0 };
        let mut row = Row::begin(&mut page, name, &told, &arrivals, fan);
        if fan > 0 {
            each_mark(&arrivals, row.ground, |number, at| row.wire(&seen[number], at));
        }
        each_mark(&arrivals, row.ground, |number, at| row.mark(&seen[number], at));
    }
    axis(&mut page);
    let svg = page.finish(&format!("{}.", facts.join(". ")));
    let name = traffic.name;
    Figure { name, svg, facts }
}

fn x(at: Micros) -> i64 {
    let width = Page::RIGHT - Page::MARGIN;
    Page::MARGIN + (at * width as u64 / SCENE) as i64
}

/// Where windows begin and end.
fn edges() -> impl Iterator<Item = Micros> {
    (0..=SCENE / WINDOW).map(|window| window * WINDOW)
}

fn legend(page: &mut Page) {
    page.y += 52;
    let y = page.y;
    let middle = y - 10;
    page.square("through", [46, middle]);
    page.text("note", [64, y], "let through");
    page.line("wire", [270, middle], [330, middle]);
    page.circle("held", [270, middle]);
    page.square("through", [330, middle]);
    page.text("note", [348, y], "queued, and then let through");
    page.cross("refused", [804, middle]);
    page.text("note", [822, y], "refused");
    page.line("edge", [1000, middle - 18], [1000, middle + 18]);
    page.text("note", [1018, y], "window’s edge");
    page.y += 18;
}

/// What becomes of all requests under one rule.
struct Row<'page> {
    page: &'page mut Page,
    /// Where the marks stand.
    ground: i64,
    /// How far below the ground those who leave a queue are; 0 if there is none.
    fan: i64,
}

impl<'page> Row<'page> {
    fn begin(page: &'page mut Page, name: &str, told: &str, arrivals: &[Micros], fan: i64) -> Self {
        page.text("name", [Page::MARGIN, page.y + 38], name);
        page.text("note end", [Page::RIGHT, page.y + 38], told);
        let top = page.y + 50;
        let ground = top + PITCH * highest(arrivals) + 8;
        for edge in edges() {
            page.line("edge", [x(edge), top], [x(edge), ground + fan]);
        }
        page.line("base", [Page::MARGIN, ground], [Page::RIGHT, ground]);
        page.y = ground + fan + if fan > 0 { 14 } else { 8 };
        Self { page, ground, fan }
    }

    /// From where a request came to where it leaves, below the ground, by half a column to the right as all marks are.
    fn wire(&mut self, seen: &Seen, from: Point) {
        if let Some(leaves) = seen.leaves {
            let to = [x(leaves + COLUMN / 2), self.ground + self.fan];
            self.page.line("wire", from, to);
            self.page.square("through", to);
        }
    }

    fn mark(&mut self, seen: &Seen, at: Point) {
        match seen.leaves {
            None => self.page.cross("refused", at),
            Some(_) if self.fan > 0 => self.page.circle("held", at),
            Some(_) => self.page.square("through", at),
        }
    }
}

/// The place of each request, on top of those that come at once.
fn each_mark(arrivals: &[Micros], ground: i64, mut draw: impl FnMut(usize, Point)) {
    let mut number = 0;
    for column in arrivals.chunk_by(same_column) {
        let middle = x(column[0] / COLUMN * COLUMN + COLUMN / 2);
        for height in 0..column.len() {
            draw(number, [middle, ground - 10 - PITCH * height as i64]);
            number += 1;
        }
    }
}

fn same_column(one: &Micros, other: &Micros) -> bool {
    one / COLUMN == other / COLUMN
}

/// The most marks on top of each other, and room for two at least.
fn highest(arrivals: &[Micros]) -> i64 {
    let columns = arrivals.chunk_by(same_column).map(<[_]>::len);
    columns.max().unwrap_or(0).max(2) as i64
}

fn told(seen: &[Seen]) -> String {
    let through = seen.iter().filter_map(|seen| seen.leaves).count();
    let refused = seen.len() - through;
    let most = most_in_any(WINDOW, seen);
    let longest = seen.iter().filter_map(|seen| Some(seen.leaves? - seen.at)).max();
    let held = match longest.unwrap_or(0) {
        0 => String::new(),
        // Rounded up to a tenth of a second.
        longest => format!(
            " within {}.{} s",
            longest.div_ceil(100_000) / 10,
            longest.div_ceil(100_000) % 10
        ),
    };
    format!("{through} let through{held}, {refused} refused; at most {most} in any 10 s")
}

fn axis(page: &mut Page) {
    page.y += 34;
    for edge in edges() {
        let class = match edge {
            0 => "axis",
            SCENE => "axis end",
            _ => "axis middle",
        };
        page.text(class, [x(edge), page.y], &format!("{} s", edge / 1_000_000));
    }
    page.y += 26;
}
