//! The page for those who do not see it: what has a name, and what is told in words.

use serde_json::{Value, json};

use support::browser::Browser;

use crate::playground::{
    program::Place,
    stage::{Stage, in_one_browser},
};

in_one_browser! {
    everything_has_a_name,
    what_became_of_requests_is_told_once_no_more_come,
}

/// The names of all that a screen reader finds of a kind, in order.
fn names(tree: &[Value], role: &str) -> Vec<String> {
    let nodes = tree
        .iter()
        .filter(|node| node["ignored"] == false && node["role"]["value"] == role);
    nodes
        .map(|node| node["name"]["value"].as_str().unwrap_or_default().to_owned())
        .collect()
}

async fn everything_has_a_name(browser: &Browser) {
    let stage = Stage::new(browser, Place::Memory);
    stage.open("?paused=yes&at=10400&play=0-edge").await;
    browser.devtools("Accessibility.enable", json!({})).await;
    let tree = browser.devtools("Accessibility.getFullAXTree", json!({})).await;
    let tree = tree["nodes"].as_array().unwrap();
    let buttons = [
        "One 1",
        "Burst of 20 b",
        "Stream s",
        "Burst across the edge e",
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
    ];
    assert_eq!(names(tree, "article"), lanes);
    // The tree is told from its root, and the timeline is nearer to it.
    let images = [
        "Let through so far: Token bucket 11, Leaky bucket 11, Fixed window 15, Sliding log 10, Sliding counter 11.",
        "0 of 10 tokens",
        "9 waiting, 10 of 10 full",
        "5 of 10 in this window",
        "10 of 10 remembered",
        "10 of 10 by its estimate",
    ];
    assert_eq!(names(tree, "image"), images);
    assert_eq!(names(tree, "region"), ["Controls", "Five algorithms", "Timeline"]);
    assert_eq!(names(tree, "group")[..2], ["Send requests to every lane", "Time"]);
    assert_eq!(names(tree, "link").len(), 7);
    assert!(names(tree, "link").iter().all(|name| !name.is_empty()));
    // Told when asked for, and not thirty times a second.
    assert_eq!(names(tree, "timer"), ["Time of the scene"]);
    let live = "[...document.querySelectorAll('output, [role=status], [role=alert], [aria-live]')].map(({ id }) => id)";
    let live: Vec<String> = stage.read(live).await;
    assert_eq!(live, ["connection", "wrong", "trouble", "news"]);

    let headings: Vec<String> = stage
        .read("[...document.querySelectorAll('h1, h2, h3, h4')].map(({ tagName }) => tagName)")
        .await;
    assert_eq!(headings, ["H1", "H2", "H2", "H2", "H2", "H2", "H2"]);
    let mut ids: Vec<String> = stage
        .read("[...document.querySelectorAll('[id]')].map(({ id }) => id)")
        .await;
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all);
    stage.leave().await;
}

/// Keeps whoever is to be called in 700 ms, which is when news are told.
const HOLD: &str = "(() => {
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

async fn what_became_of_requests_is_told_once_no_more_come(browser: &Browser) {
    let stage = Stage::new(browser, Place::Memory);
    stage.open("?paused=yes").await;
    let told = async |words: &str| {
        browser
            .until(&format!("document.getElementById('news').textContent === '{words}'"))
            .await
    };
    browser.click("#burst").await;
    told(
        "Token bucket: 10 admitted, 10 refused. Leaky bucket: 1 admitted, 9 queued, 10 refused. \
        Fixed window: 10 admitted, 10 refused. Sliding log: 10 admitted, 10 refused. \
        Sliding counter: 10 admitted, 10 refused.",
    )
    .await;
    browser.click("#one").await;
    let one = "Token bucket: 1 refused. Leaky bucket: 1 refused. Fixed window: 1 refused. Sliding log: 1 refused. \
        Sliding counter: 1 refused.";
    told(one).await;
    // Of a scene that is over before that, nothing is told: what would tell is held back here until it is called off.
    browser.value(HOLD).await;
    browser.click("#burst").await;
    stage.lanes_after(41).await;
    assert_eq!(browser.value("held.size").await, 1);
    browser.click("#restart").await;
    stage.lanes_after(0).await;
    assert_eq!(browser.value("held.size").await, 0);
    browser.click("#one").await;
    browser.until("held.size === 1").await;
    browser.value("[...held.values()].forEach((tell) => tell())").await;
    told(
        "Token bucket: 1 admitted. Leaky bucket: 1 admitted. Fixed window: 1 admitted. Sliding log: 1 admitted. \
        Sliding counter: 1 admitted.",
    )
    .await;
    stage.leave().await;
}
