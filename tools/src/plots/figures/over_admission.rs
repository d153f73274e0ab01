//! The most that each algorithm lets through in any window: of ordinary traffic, and of an attack.

use tollgate::{Algorithm, FixedWindow, LeakyBucket, Micros, Quota, Rule, SlidingCounter, SlidingLog, TokenBucket};

use super::figure::Figure;
use crate::{
    attack::{self, attacks},
    replay::{most_in_any, replay},
    share::Share,
    svg::Page,
    traffic::{self, limit_and_window},
};

const QUOTA: Quota = Quota::per_minute(60);
/// How far 100% is from the left, and the same once more to 200%.
const HUNDRED: i64 = (Page::RIGHT - Page::MARGIN) / 2 - 6;

const PERCENTS: [i64; 5] = [0, 50, 100, 150, 200];

struct Found {
    name: &'static str,
    /// In any window: of the five kinds of traffic, of the worst attack, and what is proven.
    traffic: u64,
    attack: u64,
    bound: u64,
    /// When the attack's bursts came.
    bursts: [Micros; 2],
    /// Of a counter with sub-windows: a window that is shorter by one of them, in seconds, and the most in any such.
    shorter: Option<(u64, u64)>,
}

pub(super) fn draw() -> Figure {
    let counter = SlidingCounter::new(QUOTA);
    let queue = LeakyBucket::new(QUOTA);
    let found = [
        find("Token bucket", &TokenBucket::new(QUOTA).rule(), 1),
        find("Leaky bucket that queues, as requests leave", &queue.rule(), 1),
        find("Leaky bucket that polices", &queue.policing().rule(), 1),
        find("Fixed window", &FixedWindow::new(QUOTA).rule(), 1),
        find("Sliding log", &SlidingLog::new(QUOTA).rule(), 1),
        find("Sliding counter", &counter.rule(), 1),
        find("Sliding counter, 6 sub-windows", &counter.buckets(6).rule(), 6),
        find("Sliding counter, 60 sub-windows", &counter.buckets(60).rule(), 60),
    ];
    let lines = [
        "In percent of the limit, which is 60 a minute. The attack is the worst of all pairs",
        "of bursts at each twelfth of a minute, or 1 or 2 µs before it.",
    ];
    let mut page = Page::new("The most that is let through in any window", &lines);
    legend(&mut page);
    for found in &found {
        found.draw(&mut page);
    }
    axis(&mut page);
    let facts: Vec<_> = found.iter().map(Found::told).collect();
    let svg = page.finish(&format!("{}.", facts.join(". ")));
    let name = "over-admission";
    Figure { name, svg, facts }
}

fn find(name: &'static str, rule: &Rule, sub_windows: u64) -> Found {
    let (_, window) = limit_and_window(QUOTA);
    let seen = traffic::ALL.map(|traffic| replay(rule, &(traffic.arrivals)(QUOTA)));
    let (attack, worst) = attack::worst(rule);
    let shorter = (sub_windows > 1).then(|| {
        let span = window - window / sub_windows;
        let attacks = attacks(rule).map(|attack| most_in_any(span, &attack.seen));
        let all = attacks.chain(seen.iter().map(|seen| most_in_any(span, seen)));
        (span / 1_000_000, all.max().unwrap_or(0))
    });
    Found {
        name,
        traffic: seen.iter().map(|seen| most_in_any(window, seen)).max().unwrap_or(0),
        attack,
        bound: bound(rule),
        bursts: worst.bursts,
        shorter,
    }
}

/// What is proven: no traffic gets more through in a window. tests/laws tries to.
fn bound(rule: &Rule) -> u64 {
    let (limit, window) = limit_and_window(rule.quota());
    match rule {
        // At the steady rate, wherever a window begins.
        Rule::LeakyBucket(_) if rule.queues() => limit,
        // What it holds, and what it regains until the last microsecond of the window.
        Rule::TokenBucket(_) | Rule::LeakyBucket(_) => u64::from(rule.capacity()) + (window - 1) * limit / window,
        Rule::SlidingLog(_) => limit,
        // One limit at the end of a window or sub-window, and one when that is over or no longer counts for much.
        _ => 2 * limit,
    }
}

fn share(part: u64) -> Share {
    let (whole, _) = limit_and_window(QUOTA);
    Share { part, whole }
}

fn x(part: i64, whole: i64) -> i64 {
    Page::MARGIN + HUNDRED * part / whole
}

fn legend(page: &mut Page) {
    page.y += 52;
    let y = page.y;
    let middle = y - 10;
    page.bar("through", [40, middle - 13], 40, 26);
    page.text("note", [94, y], "the five kinds of traffic");
    page.diamond("attack", [460, middle]);
    page.text("note", [484, y], "an attack");
    page.line("bound", [660, middle - 22], [660, middle + 22]);
    page.text("note", [678, y], "the most there can be");
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

impl Found {
    fn draw(&self, page: &mut Page) {
        let [traffic, attack] = [self.traffic, self.attack].map(|part| share(part).rounded());
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
            "through",
            [Page::MARGIN, middle - 13],
            along(self.traffic) - Page::MARGIN,
            26,
        );
        for percent in PERCENTS {
            let class = if percent == 100 { "edge" } else { "grid" };
            page.line(class, [x(percent, 100), top], [x(percent, 100), bottom]);
        }
        if let Some((seconds, most)) = self.shorter {
            let told = format!("in any {seconds} s {}%, attacked or not", share(most).rounded());
            page.text("note", [along(self.traffic) + 16, middle + 10], &told);
        }
        page.line("bound", [along(self.bound), top], [along(self.bound), bottom]);
        page.diamond("attack", [along(self.attack), middle]);
        page.y = bottom + 4;
    }

    fn told(&self) -> String {
        let Self {
            name,
            traffic,
            attack,
            bound,
            bursts: [one, other],
            shorter,
        } = self;
        let seconds = |at: &Micros| format!("{}.{:06} s", at / 1_000_000, at % 1_000_000);
        let told = format!(
            "{name}: {} of the five kinds of traffic, {} of bursts at {} and {}, at most {}",
            share(*traffic),
            share(*attack),
            seconds(one),
            seconds(other),
            share(*bound)
        );
        match shorter {
            Some((seconds, most)) => format!("{told}; at most {} in any {seconds} s", share(*most)),
            None => told,
        }
    }
}
