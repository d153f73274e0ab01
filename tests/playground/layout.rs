//! Layout on phones, a tablet, a laptop and wide screens in both colour schemes, with screenshots.

use std::fs;

use serde_json::json;
use support::browser::{Browser, Screen};

use crate::playground::{
    page::{Page, in_one_browser},
    program::StoreKind,
};

in_one_browser! {
    nothing_overflows_horizontally,
    nodes_do_not_overflow_horizontally,
    a_laptop_has_a_row_of_buttons_and_one_of_settings,
    a_wide_screen_is_used,
}

const fn screen(name: &'static str, width: u32, height: u32, is_phone: bool) -> Screen {
    Screen {
        name,
        width,
        height,
        is_phone,
    }
}

const LAPTOP: Screen = screen("laptop", 1366, 768, false);
const DESKTOP: Screen = screen("desk", 1400, 900, false);
const WIDE: Screen = screen("wide", 2560, 1440, false);

const SCREENS: [Screen; 6] = [
    Screen::PHONE,
    screen("large-phone", 390, 844, true),
    Screen::TABLET,
    LAPTOP,
    DESKTOP,
    WIDE,
];

/// Scenes by name. Screenshots are taken of `edge` and `overload`.
const SCENES: [(&str, &str); 4] = [
    ("edge", "?paused=yes&at=10400&play=0-edge"),
    ("overload", "?paused=yes&at=23000&duration=5000&play=0-overload"),
    (
        "crowd",
        "?paused=yes&at=900&limit=200&window=600&capacity=200&burst=400&sub_windows=50&lease=60000&duration=60000&play=0-burst",
    ),
    ("wrong", "?limit=0&window=x&sub_windows=65"),
];

/// The inputs whose number is longer than they are wide.
const CLIPPED_NUMBERS: &str = "[...document.querySelectorAll('input[type=number]')]
    .filter((input) => input.scrollWidth > input.clientWidth).map((input) => input.id)";

/// Nothing overflows on any screen in either colour scheme, whether details are open or not. Takes screenshots if they have a name.
async fn assert_layout(browser: &Browser, scene: &str, pictures: Option<&str>) {
    for colours in ["light", "dark"] {
        browser.prefer(&[("prefers-color-scheme", colours)]).await;
        for open in [false, true] {
            browser
                .value(&format!(
                    "document.querySelectorAll('details').forEach((details) => details.open = {open})"
                ))
                .await;
            for screen in SCREENS {
                browser.show_on(screen).await;
                assert_eq!(browser.overhang().await, 0, "{scene} {colours} {open} {screen:?}");
                let clipped = browser.value(CLIPPED_NUMBERS).await;
                assert_eq!(clipped, json!([]), "{scene} {colours} {open} {screen:?}");
            }
        }
        let Some(pictures) = pictures else { continue };
        for screen in SCREENS {
            let picture = browser.picture(&format!("{pictures}-{colours}"), screen).await;
            // A blank page would be smaller.
            assert!(fs::metadata(picture).unwrap().len() > 20_000);
        }
    }
    browser.prefer(&[]).await;
}

async fn nothing_overflows_horizontally(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    for (name, scene) in SCENES {
        browser.show_on(DESKTOP).await;
        browser.open(&format!("{}/{scene}", page.playground.url())).await;
        let state = if name == "wrong" { "wrong" } else { "live" };
        browser
            .until(&format!(
                "document.getElementById('connection').dataset.state === '{state}'"
            ))
            .await;
        let pictures = match name {
            "edge" => Some("playground"),
            "overload" => Some("playground-overload"),
            _ => None,
        };
        assert_layout(browser, name, pictures).await;
        page.assert_console_is_empty().await;
    }
    browser.open(&format!("{}/nodes.html", page.playground.url())).await;
    browser
        .until("document.getElementById('no-redis').checkVisibility()")
        .await;
    assert_layout(browser, "no Redis", None).await;
    page.close().await;
}

async fn nodes_do_not_overflow_horizontally(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Redis);
    browser.show_on(DESKTOP).await;
    let ones = |node| vec![format!("0-one.{node}"); 49].join("_");
    page.open_nodes(&format!(
        "?limit=1000&window=600&lease=60000&play={}_{}",
        ones('a'),
        ones('b')
    ))
    .await;
    browser
        .until("document.querySelector('#redis [data-part=admitted]').textContent === '98'")
        .await;
    assert_layout(browser, "nodes", Some("playground-nodes")).await;
    page.close().await;
}

async fn a_laptop_has_a_row_of_buttons_and_one_of_settings(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    browser.show_on(LAPTOP).await;
    page.open("?paused=yes").await;
    let rows = "new Set([...document.querySelectorAll('.presses button, .time button, .time select')]
        .map((control) => control.getBoundingClientRect().top)).size";
    assert_eq!(browser.value(rows).await, 1);
    let settings = "new Set([...document.querySelectorAll('#settings :is(input[type=number], button)')]
        .map((control) => Math.round(control.getBoundingClientRect().top))).size";
    assert_eq!(browser.value(settings).await, 1);
    page.close().await;
}

/// The content is wider than on a desktop, and centred.
async fn a_wide_screen_is_used(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    browser.show_on(WIDE).await;
    page.open("?paused=yes").await;
    let bounds: [f64; 3] = page
        .read(
            "(({ left, width, right }) => [left, width, document.documentElement.clientWidth - right])
                (document.body.getBoundingClientRect())",
        )
        .await;
    assert_eq!(bounds, [bounds[2], 2200.0, bounds[0]]);
    let lanes = "new Set([...document.querySelectorAll('.lane')].map((lane) => lane.getBoundingClientRect().top)).size";
    assert_eq!(browser.value(lanes).await, 1);
    browser.show_on(Screen::DESKTOP).await;
    page.close().await;
}
