//! How often the sliding counter's decision differs from the exact log's: by number of sub-windows, and by limit.

use super::Figure;
use crate::{
    accuracy::{Mode, Tally, Trial, measure},
    common::grouped::grouped,
    percent::Percent,
    svg::Page,
    trace::CLIENTS,
};

/// The limit for which the number of sub-windows varies, and these numbers.
const LIMIT: u32 = 100;
const SUB_WINDOWS: [u32; 7] = [1, 2, 4, 6, 10, 20, 60];
/// The limits of a counter with one sub-window.
const LIMITS: [u32; 5] = [30, LIMIT, 300, 1000, 2000];

/// Where bars begin, and the length of the longest bar of a panel.
const BARS: [i64; 2] = [340, 600];

pub(super) fn draw() -> Figure {
    let by_sub_windows = |mode| {
        SUB_WINDOWS.map(|sub_windows| Trial {
            limit: LIMIT,
            sub_windows,
            mode,
        })
    };
    let (enforced, observed) = (by_sub_windows(Mode::Enforced), by_sub_windows(Mode::Observed));
    let limits = LIMITS.map(|limit| Trial {
        limit,
        sub_windows: 1,
        mode: Mode::Enforced,
    });
    let (requests, tallies) = measure(&[&enforced[..], &observed, &limits].concat());
    let percent = |part| Percent { part, whole: requests };
    let (by_sub_windows, by_limit) = tallies.split_at(2 * SUB_WINDOWS.len());
    let (enforced, observed) = by_sub_windows.split_at(SUB_WINDOWS.len());

    let sub_windows = SUB_WINDOWS.map(|number| match number {
        1 => "1 sub-window".to_owned(),
        _ => format!("{number} sub-windows"),
    });
    let limits = LIMITS.iter().zip(by_limit);
    let limits = limits.map(|(&limit, tally)| format!("{} ({})", grouped(limit.into()), percent(tally.denied)));
    let panels = [
        Panel {
            title: format!(
                "{LIMIT} a minute, enforced: the log denies {}",
                percent(enforced[0].denied)
            ),
            note: "Each counts the requests that it admitted itself.",
            rows: sub_windows.iter().cloned().zip(enforced).collect(),
        },
        Panel {
            title: format!(
                "{LIMIT} a minute, observed only: {} exceed it",
                percent(observed[0].denied)
            ),
            note: "Each counts all requests. (Cloudflare reported 0.003% on its own traffic.)",
            rows: sub_windows.iter().cloned().zip(observed).collect(),
        },
        Panel {
            title: "1 sub-window, enforced, by limit".to_owned(),
            note: "Limit per minute, and the share that the log denies.",
            rows: limits.zip(by_limit).collect(),
        },
    ];

    let trace = format!(
        "In percent of {} requests by {} clients in an hour, heavy-tailed.",
        grouped(requests),
        grouped(CLIENTS)
    );
    let lines = [
        &*trace,
        "Counter and log each have their own state, and each panel its own scale.",
    ];
    let mut page = Page::new("Where the sliding counter and the exact log differ", &lines);
    legend(&mut page);
    for panel in &panels {
        panel.draw(&mut page, requests);
    }
    page.y += 30;
    let facts: Vec<_> = panels.iter().flat_map(|panel| panel.facts(requests)).collect();
    let svg = page.finish(&format!("{}.", facts.join(". ")));
    let name = "accuracy";
    Figure { name, svg, facts }
}

fn legend(page: &mut Page) {
    page.y += 52;
    let y = page.y;
    page.bar("admitted", [40, y - 23], 40, 26);
    page.text("note", [94, y], "admitted, the log denies it");
    page.bar("false-denial", [582, y - 22], 36, 24);
    page.text("note", [634, y], "denied, the log admits it");
}

struct Panel<'a> {
    title: String,
    note: &'static str,
    rows: Vec<(String, &'a Tally)>,
}

impl Panel<'_> {
    fn facts(&self, requests: u64) -> impl Iterator<Item = String> {
        self.rows.iter().map(move |(label, tally)| {
            let [false_admits, false_denials] = percents(tally, requests);
            let title = &self.title;
            format!("{title}; {label}: {false_admits} admitted in error, {false_denials} denied in error")
        })
    }

    fn draw(&self, page: &mut Page, requests: u64) {
        page.y += 78;
        page.text("name", [Page::MARGIN, page.y], &self.title);
        page.y += 38;
        page.text("note", [Page::MARGIN, page.y], self.note);
        page.y += 18;
        let top = page.y;
        let longest = self.rows.iter().map(|(_, tally)| tally.errors()).max();
        let [left, width] = BARS;
        let along = |part: u64| (part * width as u64 / longest.unwrap_or(0).max(1)) as i64;
        for (label, tally) in &self.rows {
            page.text("end", [left - 20, page.y + 30], label);
            page.bar("admitted", [left, page.y + 6], along(tally.false_admits), 30);
            let between = left + along(tally.false_admits) + 3;
            page.bar(
                "false-denial",
                [between, page.y + 7],
                along(tally.false_denials).max(1),
                28,
            );
            let [false_admits, false_denials] = percents(tally, requests);
            let end = left + along(tally.errors());
            page.text(
                "note",
                [end + 22, page.y + 30],
                &format!("{false_admits} + {false_denials}"),
            );
            page.y += 44;
        }
        page.line("base", [left, top], [left, page.y]);
    }
}

/// False admits and false denials, in percent of all requests.
fn percents(tally: &Tally, requests: u64) -> [Percent; 2] {
    let parts = [tally.false_admits, tally.false_denials];
    parts.map(|part| Percent { part, whole: requests })
}
