//! The page loads, with every asset from its own server.

use support::browser::Browser;

use crate::playground::{
    model::DEFAULTS,
    page::{Page, in_one_browser},
    program::StoreKind,
};

in_one_browser! {
    the_page_loads_with_all_assets,
    the_content_security_policy_blocks_other_origins,
}

/// The page's assets.
const ASSETS: [&str; 13] = [
    "announcer.js",
    "connection.js",
    "controls.js",
    "drawings.js",
    "format.js",
    "lanes.js",
    "main.js",
    "marks.js",
    "page_controls.js",
    "style.css",
    "table.js",
    "text.js",
    "timeline.js",
];

async fn the_page_loads_with_all_assets(browser: &Browser) {
    for kind in StoreKind::BOTH {
        let page = Page::new(browser, kind);
        page.open("").await;
        assert_eq!(page.text("#connection").await, "live");
        assert_eq!(page.lanes().await, DEFAULTS.lanes(&[], 0));
        let titles: Vec<String> = page
            .read("[...document.querySelectorAll('.lane h2')].map((title) => title.textContent)")
            .await;
        let expected = [
            "Token bucket",
            "Leaky bucket",
            "Fixed window",
            "Sliding log",
            "Sliding counter",
            "Concurrency",
        ];
        assert_eq!(titles, expected);
        let store = if kind == StoreKind::Redis {
            "on Redis"
        } else {
            "in memory"
        };
        assert_eq!(page.text("#store").await, store);

        // The scene's time advances.
        browser
            .until("document.getElementById('now').textContent >= '0.10 s'")
            .await;
        let loaded: Vec<String> = page
            .read("performance.getEntriesByType('resource').map(({ name }) => name)")
            .await;
        let own = format!("{}/", page.playground.url());
        let loaded: Vec<_> = loaded.iter().map(|name| name.strip_prefix(&own).expect(name)).collect();
        // Requests that the assets send are not listed.
        let mut assets: Vec<_> = loaded.into_iter().filter(|name| ASSETS.contains(name)).collect();
        assets.sort();
        assert_eq!(assets, ASSETS);
        page.close().await;
    }
}

async fn the_content_security_policy_blocks_other_origins(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    page.open("?paused=yes").await;
    let url = page.playground.url().replace("127.0.0.1", "127.0.0.2");
    let fetched = browser
        .value(&format!("fetch('{url}').then(() => 'fetched', () => 'blocked')"))
        .await;
    assert_eq!(fetched, "blocked");
    let console = browser.console().await;
    assert!(
        console.iter().any(|line| line.contains("Content Security Policy")),
        "{console:?}"
    );
    page.close().await;
}
