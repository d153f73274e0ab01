//! Two nodes with a lease: the units that each holds, their decisions, and their calls to Redis.

use std::collections::BTreeMap;

use serde::Deserialize;
use tollgate::redis::{self, Connection};

use support::{
    browser::Browser,
    redis::keys,
    wait::{eventually, until},
};

use crate::playground::{
    page::{Page, in_one_browser},
    program::StoreKind,
};

in_one_browser! {
    without_a_redis_the_page_shows_how_to_start_one,
    a_node_decides_by_its_units,
    calls_are_those_that_redis_has_executed,
    nodes_together_never_exceed_the_limit,
    a_link_sends_the_requests_again,
    every_control_has_a_key,
    invalid_settings_are_explained,
    outcomes_are_announced,
    keys_are_deleted_with_the_page,
}

/// Neither a window nor a lease ends during a test.
const LONG: &str = "window=600&lease=60000";

/// The numbers of a node's card.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
struct NodeCounts {
    leased: u64,
    admitted: u64,
    denied: u64,
    held: u64,
    leases: u64,
    calls: u64,
    unleased_calls: u64,
}

/// The numbers of the card of Redis.
#[derive(Debug, PartialEq, Eq, Deserialize)]
struct RedisCounts {
    used: u64,
    held_a: u64,
    held_b: u64,
    remaining: u64,
}

async fn nodes(page: &Page<'_>) -> [NodeCounts; 2] {
    page.read(
        "['a', 'b'].map((id) => {
            const card = document.getElementById(`node-${id}`);
            const counts = [...card.querySelectorAll('[data-count]')].map((count) => [count.dataset.count, Number(count.textContent)]);
            return { held: Number(card.dataset.held), ...Object.fromEntries(counts) };
        })",
    )
    .await
}

async fn redis_counts(page: &Page<'_>) -> RedisCounts {
    page.read(
        "Object.fromEntries(['used', 'held_a', 'held_b', 'remaining']
            .map((part) => [part, Number(document.querySelector(`[data-part=${part}]`).textContent)]))",
    )
    .await
}

/// Waits until the nodes show this.
async fn until_nodes(page: &Page<'_>, expected: [NodeCounts; 2]) {
    eventually(&format!("{expected:?}"), async || nodes(page).await == expected).await;
}

/// A script with this many requests to a node at time 0.
fn ones(node: char, count: usize) -> String {
    vec![format!("0-one.{node}"); count].join("_")
}

async fn without_a_redis_the_page_shows_how_to_start_one(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    page.open("?paused=yes").await;
    browser.click("nav a[href='nodes.html']").await;
    browser
        .until("document.getElementById('no-redis')?.checkVisibility()")
        .await;
    let command = page.text("#no-redis code").await;
    assert_eq!(command, "tollgate playground --store redis://127.0.0.1:6379");
    assert_eq!(page.text("#connection").await, "not started");
    page.close().await;
}

/// A key is leased after eight requests, for as much as was used since, once that are two units.
async fn a_node_decides_by_its_units(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Redis);
    page.open_nodes(&format!("?{LONG}&play={}", ones('a', 11))).await;
    let mut a = NodeCounts {
        admitted: 11,
        held: 2,
        leases: 1,
        calls: 11,
        unleased_calls: 11,
        ..NodeCounts::default()
    };
    let mut b = NodeCounts::default();
    until_nodes(&page, [a, b]).await;

    // The next is decided without a call; then the node asks for more in the background.
    browser.click("#one-a").await;
    a = NodeCounts {
        leased: 1,
        held: 4,
        leases: 2,
        calls: 12,
        unleased_calls: 12,
        ..a
    };
    until_nodes(&page, [a, b]).await;
    let summary = page.text("#node-a .said").await;
    assert!(
        summary.starts_with("Admitted by its lease, without a call: it holds "),
        "{summary}"
    );

    browser.click("#one-b").await;
    b = NodeCounts {
        admitted: 1,
        calls: 1,
        unleased_calls: 1,
        ..b
    };
    until_nodes(&page, [a, b]).await;
    assert_eq!(page.text("#node-b .said").await, "Admitted by Redis: 183 left");
    let expected = RedisCounts {
        used: 13,
        held_a: 4,
        held_b: 0,
        remaining: 183,
    };
    assert_eq!(redis_counts(&page).await, expected);
    let labels = page.drawings().await;
    assert_eq!(
        labels,
        [
            "4 units in hand",
            "0 units in hand",
            "13 used, A holds 4, B holds 0, 183 remain"
        ]
    );
    assert_eq!(page.text("#redis .most").await, "13 calls with leases, 13 without");
    page.close().await;
}

/// The number of scripts that each connection has run, fewest first, by the slow log of Redis.
fn calls_by_connection(redis: &mut Connection) -> Vec<u64> {
    let entries: Vec<redis::Value> = redis::cmd("SLOWLOG").arg("GET").arg(-1).query(redis).unwrap();
    let mut calls = BTreeMap::<String, u64>::new();
    for entry in entries {
        let (_, _, _, arguments, connection, _): (u64, u64, u64, Vec<redis::Value>, String, String) =
            redis::from_redis_value(entry).unwrap();
        let command: String = redis::from_redis_value(arguments[0].clone()).unwrap();
        if command.eq_ignore_ascii_case("evalsha") {
            *calls.entry(connection).or_default() += 1;
        }
    }
    let mut calls: Vec<_> = calls.into_values().collect();
    calls.sort();
    calls
}

async fn calls_are_those_that_redis_has_executed(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Redis);
    let mut redis = page.playground.redis.as_ref().unwrap().client();
    for (name, value) in [("slowlog-log-slower-than", 0), ("slowlog-max-len", 100_000)] {
        let mut command = redis::cmd("CONFIG");
        command.arg("SET").arg(name).arg(value);
        command.exec(&mut redis).unwrap();
    }
    page.open_nodes(&format!("?{LONG}&play={}_{}", ones('a', 60), ones('b', 5)))
        .await;
    eventually("each node has decided", async || {
        let [a, b] = nodes(&page).await;
        (a.leased + a.admitted, b.admitted) == (60, 5)
    })
    .await;
    let [a, b] = nodes(&page).await;
    assert_eq!((a.unleased_calls, b.unleased_calls, b.calls), (60, 5, 5));
    assert!(a.calls < 30, "{a:?}");
    // The page itself peeks, 20 times a second.
    eventually("Redis has executed the same", async || {
        let executed = calls_by_connection(&mut redis);
        let [a, b] = nodes(&page).await;
        let mut shown = [a.calls, a.unleased_calls, b.calls, b.unleased_calls];
        shown.sort();
        executed.len() == 5 && executed[4] > 60 && executed[..4] == shown
    })
    .await;
    page.close().await;
}

async fn nodes_together_never_exceed_the_limit(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Redis);
    // One node alone uses the whole limit.
    page.open_nodes(&format!("?limit=50&rate=100&{LONG}&play=0-stream.a"))
        .await;
    browser
        .until("Number(document.querySelector('#node-a [data-count=denied]').textContent) > 0")
        .await;
    browser.click("#stream-a").await;
    browser
        .until("document.getElementById('stream-a').ariaPressed === 'false'")
        .await;
    let [a, _] = nodes(&page).await;
    assert_eq!((a.leased + a.admitted, a.held), (50, 0));
    assert!(a.leased > 0 && a.calls < a.unleased_calls, "{a:?}");
    // What it has used, the other node cannot use.
    browser.click("#one-b").await;
    eventually("B denies", async || nodes(&page).await[1].denied == 1).await;

    // Both at once: a unit that one node holds is not used by the other.
    page.open_nodes(&format!("?limit=100&rate=100&{LONG}&play=0-stream.a_0-stream.b"))
        .await;
    eventually("both deny", async || {
        nodes(&page).await.iter().all(|node| node.denied > 0)
    })
    .await;
    let counts = nodes(&page).await;
    let admitted: u64 = counts.iter().map(|node| node.leased + node.admitted).sum();
    let held: u64 = counts.iter().map(|node| node.held).sum();
    assert_eq!(admitted + held, 100, "{counts:?}");
    let redis = redis_counts(&page).await;
    assert_eq!((redis.used, redis.remaining), (admitted, 0));
    page.close().await;
}

async fn a_link_sends_the_requests_again(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Redis);
    let search = "?window=600&play=0-one.a_0-one.b_1-one.a";
    for _ in 0..2 {
        page.open_nodes(search).await;
        let expected = |calls| NodeCounts {
            admitted: calls,
            calls,
            unleased_calls: calls,
            ..NodeCounts::default()
        };
        until_nodes(&page, [expected(2), expected(1)]).await;
        assert_eq!(page.search().await, search);
        if browser.value("document.getElementById('requests').open").await == false {
            browser.click("#requests summary").await;
        }
        let rows = "[...document.querySelectorAll('#requests tbody tr')].map((row) => [...row.cells].slice(1).map((cell) => cell.textContent))";
        let admitted = "admitted by Redis".to_owned();
        let expected = ["A", "B", "A"].map(|node| [node.to_owned(), admitted.clone()]);
        // The table is written after the click that opens it.
        eventually("the table has the requests", async || {
            page.read::<Vec<[String; 2]>>(rows).await == expected
        })
        .await;
    }
    page.close().await;
}

async fn every_control_has_a_key(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Redis);
    page.open_nodes("?window=600").await;
    browser.press(['1']).await;
    eventually("A has one", async || {
        nodes(&page).await.map(|node| node.calls) == [1, 0]
    })
    .await;
    browser.press(['2']).await;
    eventually("B has one", async || {
        nodes(&page).await.map(|node| node.calls) == [1, 1]
    })
    .await;
    for (key, node) in [('a', "a"), ('b', "b")] {
        for pressed in ["true", "false"] {
            browser.press([key]).await;
            browser
                .until(&format!(
                    "document.getElementById('stream-{node}').ariaPressed === '{pressed}'"
                ))
                .await;
        }
    }
    // A stream sends its first request at once.
    let counts = nodes(&page).await;
    assert!(counts.iter().all(|node| node.admitted + node.leased >= 2), "{counts:?}");
    browser.press(['r']).await;
    browser.until("location.search === '?window=600'").await;
    until_nodes(&page, Default::default()).await;

    let expected = [
        "Skip to the nodes",
        "Six algorithms",
        "One busy node",
        "Two busy nodes",
        "First A, then B",
        "More than the limit",
        "Too few requests for a lease",
        "#one-a",
        "#stream-a",
        "#one-b",
        "#stream-b",
        "#limit",
        "#window",
        "#lease",
        "#rate",
        "#restart",
        "#share",
        "#keys",
        "The last requests as a table",
        "",
    ];
    page.open_nodes("").await;
    page.assert_tab_order(&expected).await;
    page.close().await;
}

async fn invalid_settings_are_explained(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Redis);
    let search = "?lease=5&rate=0&play=0-burst";
    browser
        .open(&format!("{}/nodes.html{search}", page.playground.url()))
        .await;
    browser
        .until("document.getElementById('wrong').checkVisibility()")
        .await;
    let expected = "Lease (ms): must be a whole number from 10 to 60000. play: must be up to 100 actions in order of time, like \
        0-one.a_3200-one.b: milliseconds, then one.a, one.b, stream.a, stream.b, stop.a or stop.b. Stream (per s): must be a \
        whole number from 1 to 100.";
    assert_eq!(page.text("#wrong").await, expected);
    page.close().await;
}

async fn outcomes_are_announced(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Redis);
    page.open_nodes(&format!("?limit=1&{LONG}&play=0-one.a_0-one.b")).await;
    browser
        .until("document.getElementById('news').textContent === 'Node A: 1 admitted by Redis. Node B: 1 denied.'")
        .await;
    // The outcome of one node alone.
    browser.click("#one-a").await;
    browser
        .until("document.getElementById('news').textContent === 'Node A: 1 denied.'")
        .await;
    let label: String = page
        .read("document.getElementById('timeline').getAttribute('aria-label')")
        .await;
    assert_eq!(label, "Requests passed: Node A 1, Node B 0.");
    page.close().await;
}

async fn keys_are_deleted_with_the_page(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Redis);
    let mut redis = page.playground.redis.as_ref().unwrap().client();
    page.open_nodes(&format!("?{LONG}&play={}", ones('a', 20))).await;
    eventually("A has decided", async || {
        let [a, _] = nodes(&page).await;
        a.leased + a.admitted == 20
    })
    .await;
    let written = keys(&mut redis);
    assert_eq!(written.len(), 2, "{written:?}");
    assert!(written.iter().all(|key| key.starts_with("playground:")), "{written:?}");
    page.assert_console_is_empty().await;
    browser.open("about:blank").await;
    until("the keys are deleted", || keys(&mut redis).is_empty());
}
