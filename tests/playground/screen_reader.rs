//! Accessibility: names of elements, and announcements for screen readers.

use serde_json::{Value, json};

use support::browser::Browser;

use crate::playground::{
    page::{Page, in_one_browser},
    program::StoreKind,
};

in_one_browser! {
    every_element_has_an_accessible_name,
    outcomes_are_announced_after_a_pause,
}

/// The accessible names of all nodes with a role, in order.
fn names(tree: &[Value], role: &str) -> Vec<String> {
    let nodes = tree
        .iter()
        .filter(|node| node["ignored"] == false && node["role"]["value"] == role);
    nodes
        .map(|node| node["name"]["value"].as_str().unwrap_or_default().to_owned())
        .collect()
}

async fn every_element_has_an_accessible_name(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    page.open("?paused=yes&at=10400&play=0-edge").await;
    browser.devtools("Accessibility.enable", json!({})).await;
    let tree = browser.devtools("Accessibility.getFullAXTree", json!({})).await;
    let tree = tree["nodes"].as_array().unwrap();
    let buttons = [
        "One 1",
        "Burst of 20 b",
        "Stream s",
        "Burst across the edge e",
        "Overload o",
        "Pause p",
        "Step 0.10 s .",
        "Next request n",
        "Start over r",
        "Copy link",
    ];
    assert_eq!(names(tree, "button"), buttons);
    let fields = [
        "Limit",
        "Window (s)",
        "Capacity",
        "Sub-windows",
        "Lease (ms)",
        "Duration (ms)",
        "Burst",
        "Stream (per s)",
    ];
    assert_eq!(names(tree, "spinbutton"), fields);
    assert_eq!(names(tree, "combobox"), ["Speed"]);
    let lanes = [
        "Token bucket",
        "Leaky bucket",
        "Fixed window",
        "Sliding log",
        "Sliding counter",
        "Concurrency",
    ];
    assert_eq!(names(tree, "article"), lanes);
    // The tree is listed from its root, and the timeline is nearer to it.
    let images = [
        "Requests passed: Token bucket 11, Leaky bucket 11, Fixed window 15, Sliding log 10, Sliding counter 11, \
         Concurrency 15.",
        "0 of 10 tokens",
        "9 waiting, 10 of 10 full",
        "5 of 10 in this window",
        "10 of 10 in the log",
        "10 of 10 estimated",
        "5 of 10 slots held",
    ];
    assert_eq!(names(tree, "image"), images);
    assert_eq!(names(tree, "region"), ["Controls", "Six algorithms", "Timeline"]);
    assert_eq!(names(tree, "group")[..2], ["Send requests to every lane", "Time"]);
    assert_eq!(names(tree, "link").len(), 11);
    assert!(names(tree, "link").iter().all(|name| !name.is_empty()));
    // A timer is read on request, and not thirty times a second.
    assert_eq!(names(tree, "timer"), ["Time of the session"]);
    let live = "[...document.querySelectorAll('output, [role=status], [role=alert], [aria-live]')].map(({ id }) => id)";
    let live: Vec<String> = page.read(live).await;
    assert_eq!(live, ["connection", "wrong", "trouble", "hint", "news"]);

    let headings: Vec<String> = page
        .read("[...document.querySelectorAll('h1, h2, h3, h4')].map(({ tagName }) => tagName)")
        .await;
    assert_eq!(headings, ["H1", "H2", "H2", "H2", "H2", "H2", "H2", "H2"]);
    let mut ids: Vec<String> = page
        .read("[...document.querySelectorAll('[id]')].map(({ id }) => id)")
        .await;
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all);
    page.close().await;
}

/// Intercepts timers of 700 ms, the delay of announcements.
const HOLD_ANNOUNCEMENTS: &str = "(() => {
    const [set, clear] = [setTimeout, clearTimeout];
    window.held = new Map();
    let count = 0;
    window.setTimeout = (call, wait) => {
        if (wait !== 700) return set(call, wait);
        held.set(--count, call);
        return count;
    };
    window.clearTimeout = (timer) => held.delete(timer) || clear(timer);
})()";

async fn outcomes_are_announced_after_a_pause(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    page.open("?paused=yes").await;
    let announced = async |text: &str| {
        browser
            .until(&format!("document.getElementById('news').textContent === '{text}'"))
            .await
    };
    browser.click("#burst").await;
    announced(
        "Token bucket: 10 admitted, 10 denied. Leaky bucket: 1 admitted, 9 queued, 10 denied. \
        Fixed window: 10 admitted, 10 denied. Sliding log: 10 admitted, 10 denied. \
        Sliding counter: 10 admitted, 10 denied. Concurrency: 10 admitted, 10 denied.",
    )
    .await;
    browser.click("#one").await;
    let one = "Token bucket: 1 denied. Leaky bucket: 1 denied. Fixed window: 1 denied. Sliding log: 1 denied. \
        Sliding counter: 1 denied. Concurrency: 1 denied.";
    announced(one).await;
    // A scene that ends within the delay is not announced: its timer is held here until it is cancelled.
    browser.value(HOLD_ANNOUNCEMENTS).await;
    browser.click("#burst").await;
    page.lanes_after(41).await;
    assert_eq!(browser.value("held.size").await, 1);
    browser.click("#restart").await;
    page.lanes_after(0).await;
    assert_eq!(browser.value("held.size").await, 0);
    browser.click("#one").await;
    browser.until("held.size === 1").await;
    browser.value("[...held.values()].forEach((call) => call())").await;
    announced(
        "Token bucket: 1 admitted. Leaky bucket: 1 admitted. Fixed window: 1 admitted. Sliding log: 1 admitted. \
        Sliding counter: 1 admitted. Concurrency: 1 admitted.",
    )
    .await;
    page.close().await;
}
