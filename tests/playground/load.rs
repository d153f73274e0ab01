//! The page comes up by itself, with all that it needs from where it came.

use support::browser::Browser;

use crate::playground::{
    model::USUAL,
    program::Place,
    stage::{Stage, in_one_browser},
};

in_one_browser! {
    the_page_is_alive_and_has_all_it_needs,
    a_page_may_fetch_nothing_from_elsewhere,
}

/// What the page is made of.
const PARTS: [&str; 9] = [
    "connection.js",
    "controls.js",
    "drawings.js",
    "lanes.js",
    "main.js",
    "marks.js",
    "news.js",
    "style.css",
    "timeline.js",
];

async fn the_page_is_alive_and_has_all_it_needs(browser: &Browser) {
    for place in Place::BOTH {
        let stage = Stage::new(browser, place);
        stage.open("").await;
        assert_eq!(stage.text("#connection").await, "live");
        assert_eq!(stage.lanes().await, USUAL.seen(&[], 0));
        let titles: Vec<String> = stage
            .read("[...document.querySelectorAll('.lane h2')].map((title) => title.textContent)")
            .await;
        let expected = [
            "Token bucket",
            "Leaky bucket",
            "Fixed window",
            "Sliding log",
            "Sliding counter",
        ];
        assert_eq!(titles, expected);
        let store = if place == Place::Redis { "on Redis" } else { "in memory" };
        assert_eq!(stage.text("#store").await, store);

        // Time goes by, and is drawn.
        browser
            .until("document.getElementById('now').textContent >= '0.10 s'")
            .await;
        let loaded: Vec<String> = stage
            .read("performance.getEntriesByType('resource').map(({ name }) => name)")
            .await;
        let own = format!("{}/", stage.playground.url());
        let loaded: Vec<_> = loaded.iter().map(|name| name.strip_prefix(&own).expect(name)).collect();
        // And whatever these asked for.
        let mut parts: Vec<_> = loaded.into_iter().filter(|name| PARTS.contains(name)).collect();
        parts.sort();
        assert_eq!(parts, PARTS);
        stage.leave().await;
    }
}

async fn a_page_may_fetch_nothing_from_elsewhere(browser: &Browser) {
    let stage = Stage::new(browser, Place::Memory);
    stage.open("?paused=yes").await;
    let url = stage.playground.url().replace("127.0.0.1", "127.0.0.2");
    let fetched = browser
        .value(&format!("fetch('{url}').then(() => 'fetched', () => 'refused')"))
        .await;
    assert_eq!(fetched, "refused");
    let console = browser.console().await;
    assert!(
        console.iter().any(|line| line.contains("Content Security Policy")),
        "{console:?}"
    );
    stage.leave().await;
}
