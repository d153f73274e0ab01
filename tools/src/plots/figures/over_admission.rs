//! The maximum that each algorithm admits in any window: of ordinary traffic, and of an attack.

use tollgate::{
    Algorithm, AnyAlgorithm, FixedWindow, LeakyBucket, Micros, Quota, SlidingCounter, SlidingLog, TokenBucket,
};

use super::Figure;
use crate::{
    attack::{self, attacks},
    percent::Percent,
    replay::{max_in_any, replay},
    svg::Page,
    traffic::{self, limit_and_window},
};

const QUOTA: Quota = Quota::per_minute(60);
/// The distance from 0% to 100%, and from 100% to 200%.
const HUNDRED_PERCENT: i64 = (Page::RIGHT - Page::MARGIN) / 2 - 6;

const PERCENTS: [i64; 5] = [0, 50, 100, 150, 200];

struct Row {
    name: &'static str,
    /// The maximum in any window: of the five traffic patterns, of the worst attack, and the proven bound.
    traffic: u64,
    attack: u64,
    bound: u64,
    /// When the attack's bursts arrive.
    bursts: [Micros; 2],
    /// For a counter with sub-windows: the window minus one sub-window, in seconds, and the maximum in any such span.
    shorter: Option<(u64, u64)>,
}

pub(super) fn draw() -> Figure {
    let counter = SlidingCounter::new(QUOTA);
    let queue = LeakyBucket::new(QUOTA);
    let rows = [
        row("Token bucket", &TokenBucket::new(QUOTA).to_any(), 1),
        row("Leaky bucket, queueing, by departure time", &queue.to_any(), 1),
        row("Leaky bucket, policing", &queue.policing().to_any(), 1),
        row("Fixed window", &FixedWindow::new(QUOTA).to_any(), 1),
        row("Sliding log", &SlidingLog::new(QUOTA).to_any(), 1),
        row("Sliding counter", &counter.to_any(), 1),
        row("Sliding counter, 6 sub-windows", &counter.sub_windows(6).to_any(), 6),
        row("Sliding counter, 60 sub-windows", &counter.sub_windows(60).to_any(), 60),
    ];
    let lines = [
        "In percent of the limit, which is 60 a minute. The attack is the worst of all pairs",
        "of bursts at each twelfth of a minute, or 1 or 2 µs before it.",
    ];
    let mut page = Page::new("The maximum admitted in any window", &lines);
    legend(&mut page);
    for row in &rows {
        row.draw(&mut page);
    }
    axis(&mut page);
    let facts: Vec<_> = rows.iter().map(Row::description).collect();
    let svg = page.finish(&format!("{}.", facts.join(". ")));
    let name = "over-admission";
    Figure { name, svg, facts }
}

fn row(name: &'static str, algorithm: &AnyAlgorithm, sub_windows: u64) -> Row {
    let (_, window) = limit_and_window(QUOTA);
    let replays = traffic::ALL.map(|traffic| replay(algorithm, &(traffic.arrivals)(QUOTA)));
    let (attack, worst) = attack::worst(algorithm);
    let shorter = (sub_windows > 1).then(|| {
        let span = window - window / sub_windows;
        let attacks = attacks(algorithm).map(|attack| max_in_any(span, &attack.requests));
        let all = attacks.chain(replays.iter().map(|requests| max_in_any(span, requests)));
        (span / 1_000_000, all.max().unwrap_or(0))
    });
    let traffic = replays.iter().map(|requests| max_in_any(window, requests));
    Row {
        name,
        traffic: traffic.max().unwrap_or(0),
        attack,
        bound: bound(algorithm),
        bursts: worst.bursts,
        shorter,
    }
}

/// The proven upper bound of admissions in a window, which tests/laws tries to exceed.
fn bound(algorithm: &AnyAlgorithm) -> u64 {
    let (limit, window) = limit_and_window(algorithm.quota().expect("the plots are of limits with a window"));
    match algorithm {
        // Departures follow the steady rate.
        AnyAlgorithm::LeakyBucket(_) if algorithm.is_queueing() => limit,
        // The capacity, and the refill until the last microsecond of the window.
        AnyAlgorithm::TokenBucket(_) | AnyAlgorithm::LeakyBucket(_) => {
            u64::from(algorithm.capacity()) + (window - 1) * limit / window
        }
        AnyAlgorithm::SlidingLog(_) => limit,
        // One limit at the end of a window or sub-window, and one after it has expired or weighs little.
        _ => 2 * limit,
    }
}

fn percent(part: u64) -> Percent {
    let (whole, _) = limit_and_window(QUOTA);
    Percent { part, whole }
}

fn x(part: i64, whole: i64) -> i64 {
    Page::MARGIN + HUNDRED_PERCENT * part / whole
}

fn legend(page: &mut Page) {
    page.y += 52;
    let y = page.y;
    let middle = y - 10;
    page.bar("admitted", [40, middle - 13], 40, 26);
    page.text("note", [94, y], "the five traffic patterns");
    page.diamond("attack", [460, middle]);
    page.text("note", [484, y], "an attack");
    page.line("bound", [660, middle - 22], [660, middle + 22]);
    page.text("note", [678, y], "the proven bound");
    page.line("edge", [1044, middle - 18], [1044, middle + 18]);
    page.text("note", [1062, y], "the limit");
    page.y += 18;
}

fn axis(page: &mut Page) {
    page.y += 36;
    for percent in PERCENTS {
        let class = match percent {
            0 => "axis",
            200 => "axis end",
            _ => "axis middle",
        };
        page.text(class, [x(percent, 100), page.y], &format!("{percent}%"));
    }
    page.y += 26;
}

impl Row {
    fn draw(&self, page: &mut Page) {
        let [traffic, attack] = [self.traffic, self.attack].map(|part| percent(part).rounded());
        page.text("name", [Page::MARGIN, page.y + 38], self.name);
        page.text(
            "note end",
            [Page::RIGHT, page.y + 38],
            &format!("{traffic}%, attacked {attack}%"),
        );
        let [top, bottom] = [page.y + 50, page.y + 94];
        let middle = (top + bottom) / 2;
        let (limit, _) = limit_and_window(QUOTA);
        let along = |part: u64| x(part as i64, limit as i64);
        page.bar(
            "admitted",
            [Page::MARGIN, middle - 13],
            along(self.traffic) - Page::MARGIN,
            26,
        );
        for percent in PERCENTS {
            let class = if percent == 100 { "edge" } else { "grid" };
            page.line(class, [x(percent, 100), top], [x(percent, 100), bottom]);
        }
        if let Some((seconds, max)) = self.shorter {
            let note = format!("in any {seconds} s {}%, attacked or not", percent(max).rounded());
            page.text("note", [along(self.traffic) + 16, middle + 10], &note);
        }
        page.line("bound", [along(self.bound), top], [along(self.bound), bottom]);
        page.diamond("attack", [along(self.attack), middle]);
        page.y = bottom + 4;
    }

    fn description(&self) -> String {
        let Self {
            name,
            traffic,
            attack,
            bound,
            bursts: [one, other],
            shorter,
        } = self;
        let seconds = |at: &Micros| format!("{}.{:06} s", at / 1_000_000, at % 1_000_000);
        let description = format!(
            "{name}: {} of the five traffic patterns, {} of bursts at {} and {}, at most {}",
            percent(*traffic),
            percent(*attack),
            seconds(one),
            seconds(other),
            percent(*bound)
        );
        match shorter {
            Some((seconds, max)) => format!("{description}; at most {} in any {seconds} s", percent(*max)),
            None => description,
        }
    }
}
