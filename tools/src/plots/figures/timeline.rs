//! How each algorithm treats the same traffic, request by request.

use std::time::Duration;

use tollgate::{
    Algorithm, AnyAlgorithm, FixedWindow, LeakyBucket, Micros, Quota, SlidingCounter, SlidingLog, TokenBucket,
};

use super::Figure;
use crate::{
    replay::{Replayed, max_in_any, replay},
    svg::{Page, Point},
    traffic::Traffic,
};

const WINDOW: Micros = 10_000_000;
/// The time axis: three windows of traffic, and one in which the last requests leave a queue.
const SPAN: Micros = 4 * WINDOW;
/// Requests that arrive within this time are stacked, the first at the bottom.
const COLUMN: Micros = WINDOW / 20;
/// From one mark to the next, in both directions.
const PITCH: i64 = 15;
/// The vertical distance from arrivals down to departures from a queue.
const QUEUE_HEIGHT: i64 = 56;

pub(super) fn draw(traffic: &Traffic) -> Figure {
    let quota = Quota::new(10, Duration::from_micros(WINDOW));
    let algorithms: [(&str, AnyAlgorithm); 5] = [
        ("Token bucket", TokenBucket::new(quota).to_any()),
        ("Leaky bucket", LeakyBucket::new(quota).to_any()),
        ("Fixed window", FixedWindow::new(quota).to_any()),
        ("Sliding log", SlidingLog::new(quota).to_any()),
        ("Sliding counter", SlidingCounter::new(quota).to_any()),
    ];
    let arrivals = (traffic.arrivals)(quota);

    let lines = ["Each limit is 10 per 10 s, with default settings, on a clock that begins at 0 s."];
    let mut page = Page::new(traffic.title, &lines);
    legend(&mut page);
    let offered = format!("{} requests", arrivals.len());
    let mut facts = vec![format!("Offered: {offered}")];
    let row = Row::begin(&mut page, "Offered", &offered, &arrivals, 0);
    each_mark(&arrivals, row.baseline, |_, at| row.page.square("offered", at));
    for (name, algorithm) in algorithms {
        let requests = replay(&algorithm, &arrivals);
        let summary = summary(&requests);
        facts.push(format!("{name}: {summary}"));
        let queue = if algorithm.is_queueing() { QUEUE_HEIGHT } else { 0 };
        let mut row = Row::begin(&mut page, name, &summary, &arrivals, queue);
        if queue > 0 {
            each_mark(&arrivals, row.baseline, |number, at| row.connect(&requests[number], at));
        }
        each_mark(&arrivals, row.baseline, |number, at| row.mark(&requests[number], at));
    }
    axis(&mut page);
    let svg = page.finish(&format!("{}.", facts.join(". ")));
    let name = traffic.name;
    Figure { name, svg, facts }
}

fn x(at: Micros) -> i64 {
    let width = Page::RIGHT - Page::MARGIN;
    Page::MARGIN + (at * width as u64 / SPAN) as i64
}

/// The boundaries of windows.
fn boundaries() -> impl Iterator<Item = Micros> {
    (0..=SPAN / WINDOW).map(|window| window * WINDOW)
}

fn legend(page: &mut Page) {
    page.y += 52;
    let y = page.y;
    let middle = y - 10;
    page.square("admitted", [46, middle]);
    page.text("note", [64, y], "admitted");
    page.line("connector", [270, middle], [330, middle]);
    page.circle("queued", [270, middle]);
    page.square("admitted", [330, middle]);
    page.text("note", [348, y], "queued, then admitted");
    page.cross("denied", [804, middle]);
    page.text("note", [822, y], "denied");
    page.line("edge", [968, middle - 18], [968, middle + 18]);
    page.text("note", [986, y], "window boundary");
    page.y += 18;
}

/// All requests under one algorithm.
struct Row<'page> {
    page: &'page mut Page,
    /// The vertical position of the lowest marks.
    baseline: i64,
    /// The distance from the baseline down to departures from a queue; 0 without a queue.
    queue: i64,
}

impl<'page> Row<'page> {
    fn begin(page: &'page mut Page, name: &str, summary: &str, arrivals: &[Micros], queue: i64) -> Self {
        page.text("name", [Page::MARGIN, page.y + 38], name);
        page.text("note end", [Page::RIGHT, page.y + 38], summary);
        let top = page.y + 50;
        let baseline = top + PITCH * max_stack(arrivals) + 8;
        for edge in boundaries() {
            page.line("edge", [x(edge), top], [x(edge), baseline + queue]);
        }
        page.line("base", [Page::MARGIN, baseline], [Page::RIGHT, baseline]);
        page.y = baseline + queue + if queue > 0 { 14 } else { 8 };
        Self { page, baseline, queue }
    }

    /// Connects an arrival with its departure below the baseline, half a column to the right like all marks.
    fn connect(&mut self, request: &Replayed, from: Point) {
        if let Some(departure) = request.departure {
            let to = [x(departure + COLUMN / 2), self.baseline + self.queue];
            self.page.line("connector", from, to);
            self.page.square("admitted", to);
        }
    }

    fn mark(&mut self, request: &Replayed, at: Point) {
        match request.departure {
            None => self.page.cross("denied", at),
            Some(_) if self.queue > 0 => self.page.circle("queued", at),
            Some(_) => self.page.square("admitted", at),
        }
    }
}

/// Draws each request, stacked on those of the same column.
fn each_mark(arrivals: &[Micros], baseline: i64, mut draw: impl FnMut(usize, Point)) {
    let mut number = 0;
    for column in arrivals.chunk_by(same_column) {
        let middle = x(column[0] / COLUMN * COLUMN + COLUMN / 2);
        for height in 0..column.len() {
            draw(number, [middle, baseline - 10 - PITCH * height as i64]);
            number += 1;
        }
    }
}

fn same_column(one: &Micros, other: &Micros) -> bool {
    one / COLUMN == other / COLUMN
}

/// The height of the highest stack, at least 2.
fn max_stack(arrivals: &[Micros]) -> i64 {
    let columns = arrivals.chunk_by(same_column).map(<[_]>::len);
    columns.max().unwrap_or(0).max(2) as i64
}

fn summary(requests: &[Replayed]) -> String {
    let admitted = requests.iter().filter_map(|request| request.departure).count();
    let denied = requests.len() - admitted;
    let max = max_in_any(WINDOW, requests);
    let delays = requests
        .iter()
        .filter_map(|request| Some(request.departure? - request.arrival));
    let delay = match delays.max().unwrap_or(0) {
        0 => String::new(),
        // Rounded up to a tenth of a second.
        longest => format!(
            " within {}.{} s",
            longest.div_ceil(100_000) / 10,
            longest.div_ceil(100_000) % 10
        ),
    };
    format!("{admitted} admitted{delay}, {denied} denied; at most {max} in any 10 s")
}

fn axis(page: &mut Page) {
    page.y += 34;
    for edge in boundaries() {
        let class = match edge {
            0 => "axis",
            SPAN => "axis end",
            _ => "axis middle",
        };
        page.text(class, [x(edge), page.y], &format!("{} s", edge / 1_000_000));
    }
    page.y += 26;
}
