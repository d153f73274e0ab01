//! How often the sliding counter decides otherwise than the exact log: by its sub-windows, and by the limit.

use super::figure::Figure;
use crate::{
    accuracy::{Role, Tally, Trial, measure},
    common::grouped::grouped,
    share::Share,
    svg::Page,
    trace::CLIENTS,
};

/// The limit of which the number of sub-windows is varied, and these numbers.
const LIMIT: u32 = 100;
const SUB_WINDOWS: [u32; 7] = [1, 2, 4, 6, 10, 20, 60];
/// The limits of a counter that is not cut.
const LIMITS: [u32; 5] = [30, LIMIT, 300, 1000, 2000];

/// Where bars begin, and how far the longest of a panel reaches.
const BARS: [i64; 2] = [340, 600];

pub(super) fn draw() -> Figure {
    let cut = |role| {
        SUB_WINDOWS.map(|sub_windows| Trial {
            limit: LIMIT,
            sub_windows,
            role,
        })
    };
    let (in_force, watching) = (cut(Role::InForce), cut(Role::Watching));
    let limits = LIMITS.map(|limit| Trial {
        limit,
        sub_windows: 1,
        role: Role::InForce,
    });
    let (requests, tallies) = measure(&[&in_force[..], &watching, &limits].concat());
    let share = |part| Share { part, whole: requests };
    let (by_cut, by_limit) = tallies.split_at(2 * SUB_WINDOWS.len());
    let (in_force, watching) = by_cut.split_at(SUB_WINDOWS.len());

    let sub_windows = SUB_WINDOWS.map(|number| match number {
        1 => "1 sub-window".to_owned(),
        _ => format!("{number} sub-windows"),
    });
    let limits = LIMITS.iter().zip(by_limit);
    let limits = limits.map(|(&limit, tally)| format!("{} ({})", grouped(limit.into()), share(tally.refused)));
    let panels = [
        Panel {
            title: format!(
                "{LIMIT} a minute, in force: the log refuses {}",
                share(in_force[0].refused)
            ),
            note: "Each counts what it let through itself.",
            rows: sub_windows.iter().cloned().zip(in_force).collect(),
        },
        Panel {
            title: format!(
                "{LIMIT} a minute, only watched: {} come above it",
                share(watching[0].refused)
            ),
            note: "Each counts all that came. (Cloudflare told of 0.003% on its own traffic.)",
            rows: sub_windows.iter().cloned().zip(watching).collect(),
        },
        Panel {
            title: "1 sub-window, in force, by the limit".to_owned(),
            note: "Limits a minute, and how much the log refuses.",
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
    page.bar("through", [40, y - 23], 40, 26);
    page.text("note", [94, y], "let through, the log refuses it");
    page.bar("wrongly-refused", [582, y - 22], 36, 24);
    page.text("note", [634, y], "refused, the log lets it through");
}

struct Panel<'a> {
    title: String,
    note: &'static str,
    rows: Vec<(String, &'a Tally)>,
}

impl Panel<'_> {
    fn facts(&self, requests: u64) -> impl Iterator<Item = String> {
        self.rows.iter().map(move |(label, tally)| {
            let [through, refused] = shares(tally, requests);
            let title = &self.title;
            format!("{title}; {label}: {through} wrongly let through, {refused} wrongly refused")
        })
    }

    fn draw(&self, page: &mut Page, requests: u64) {
        page.y += 78;
        page.text("name", [Page::MARGIN, page.y], &self.title);
        page.y += 38;
        page.text("note", [Page::MARGIN, page.y], self.note);
        page.y += 18;
        let top = page.y;
        let longest = self.rows.iter().map(|(_, tally)| tally.wrong()).max();
        let [left, width] = BARS;
        let along = |part: u64| (part * width as u64 / longest.unwrap_or(0).max(1)) as i64;
        for (label, tally) in &self.rows {
            page.text("end", [left - 20, page.y + 30], label);
            page.bar("through", [left, page.y + 6], along(tally.wrongly_through), 30);
            let between = left + along(tally.wrongly_through) + 3;
            page.bar(
                "wrongly-refused",
                [between, page.y + 7],
                along(tally.wrongly_refused).max(1),
                28,
            );
            let [through, refused] = shares(tally, requests);
            let end = left + along(tally.wrong());
            page.text("note", [end + 22, page.y + 30], &format!("{through} + {refused}"));
            page.y += 44;
        }
        page.line("base", [left, top], [left, page.y]);
    }
}

/// Let through and refused, each wrongly.
fn shares(tally: &Tally, requests: u64) -> [Share; 2] {
    let parts = [tally.wrongly_through, tally.wrongly_refused];
    parts.map(|part| Share { part, whole: requests })
}
