//! Layout on phone, tablet and desktop in both colour schemes, with screenshots.

use std::fs;

use support::browser::{Browser, Screen};

use crate::playground::{page::Page, program::StoreKind};

const DESKTOP: Screen = Screen {
    name: "desk",
    width: 1400,
    height: 900,
    is_phone: false,
};

/// Scenes by name. Screenshots are taken of `edge`.
const SCENES: [(&str, &str); 3] = [
    ("edge", "?paused=yes&at=10400&play=0-edge"),
    (
        "crowd",
        "?paused=yes&at=900&limit=200&capacity=200&burst=400&sub_windows=50&play=0-burst",
    ),
    ("wrong", "?limit=0&window=x&sub_windows=65"),
];

#[tokio::test]
async fn nothing_overflows_horizontally() {
    let browser = Browser::start().await;
    let page = Page::new(&browser, StoreKind::Memory);
    for (name, scene) in SCENES {
        browser.show_on(DESKTOP).await;
        browser.open(&format!("{}/{scene}", page.playground.url())).await;
        let state = if name == "wrong" { "wrong" } else { "live" };
        browser
            .until(&format!(
                "document.getElementById('connection').dataset.state === '{state}'"
            ))
            .await;
        for colours in ["light", "dark"] {
            browser.prefer(&[("prefers-color-scheme", colours)]).await;
            for open in [false, true] {
                browser
                    .value(&format!(
                        "document.querySelectorAll('details').forEach((details) => details.open = {open})"
                    ))
                    .await;
                for screen in [Screen::PHONE, Screen::TABLET, DESKTOP] {
                    browser.show_on(screen).await;
                    assert_eq!(browser.overhang().await, 0, "{name} {colours} {open} {screen:?}");
                }
            }
            if name != "edge" {
                continue;
            }
            for screen in [Screen::PHONE, Screen::TABLET, DESKTOP] {
                let picture = browser.picture(&format!("playground-{colours}"), screen).await;
                // A blank page would be smaller.
                assert!(fs::metadata(picture).unwrap().len() > 20_000);
            }
        }
        page.assert_console_is_empty().await;
    }
}
