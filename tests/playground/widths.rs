//! The page fits where it is shown, from a phone to a desk, in the light and in the dark, and is looked at in pictures.

use std::fs;

use support::browser::{Browser, Screen};

use crate::playground::{program::Place, stage::Stage};

const DESK: Screen = Screen {
    name: "desk",
    width: 1400,
    height: 900,
    is_phone: false,
};

/// What is played, by its name. One of them is worth pictures.
const SCENES: [(&str, &str); 3] = [
    ("edge", "?paused=yes&at=10400&play=0-edge"),
    (
        "crowd",
        "?paused=yes&at=900&limit=200&capacity=200&burst=400&buckets=50&play=0-burst",
    ),
    ("wrong", "?limit=0&window=x&buckets=65"),
];

#[tokio::test]
async fn nothing_sticks_out_anywhere() {
    let browser = Browser::start().await;
    let stage = Stage::new(&browser, Place::Memory);
    for (name, scene) in SCENES {
        browser.show_on(DESK).await;
        browser.open(&format!("{}/{scene}", stage.playground.url())).await;
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
                for screen in [Screen::PHONE, Screen::TABLET, DESK] {
                    browser.show_on(screen).await;
                    assert_eq!(browser.overhang().await, 0, "{name} {colours} {open} {screen:?}");
                }
            }
            if name != "edge" {
                continue;
            }
            for screen in [Screen::PHONE, Screen::TABLET, DESK] {
                let picture = browser.picture(&format!("playground-{colours}"), screen).await;
                // A page of one colour would be smaller.
                assert!(fs::metadata(picture).unwrap().len() > 20_000);
            }
        }
        stage.no_complaints().await;
    }
}
