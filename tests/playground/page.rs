//! A playground's page in a browser.

use fantoccini::key::Key;
use serde::{Deserialize, de::DeserializeOwned};

use support::browser::Browser;

use crate::playground::program::{Playground, StoreKind};

/// One test that runs these functions in one browser, since most take less time than the start of a browser. Each is an
/// `async fn name(browser: &Browser)` that restores the browser's state.
macro_rules! in_one_browser {
    ($($part:ident),* $(,)?) => {
        #[tokio::test]
        async fn in_one_browser() {
            let browser = Browser::start().await;
            $(
                // Shown on failure.
                println!("{}", stringify!($part));
                $part(&browser).await;
            )*
        }
    };
}
pub(crate) use in_one_browser;

/// The numbers that a lane shows.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct LaneCounts {
    pub(crate) name: String,
    pub(crate) admitted: usize,
    pub(crate) queued: usize,
    pub(crate) denied: usize,
    pub(crate) unchecked: usize,
    /// The maximum that passed in a fifth of a window, and in a window.
    pub(crate) in_span: usize,
    pub(crate) in_window: usize,
    /// The badge of a lane that has exceeded the limit.
    pub(crate) badge: String,
}

const LANES: &str = "[...document.querySelectorAll('.lane')].map((lane) => {
    const part = (selector) => lane.querySelector(selector);
    const count = (kind) => Number(part(`[data-count=${kind}]`).textContent);
    const most = (length) => Number(part(`[data-most=${length}]`).textContent);
    const badge = part('.badge');
    return {
        name: lane.id.replace('lane-', ''),
        admitted: count('admitted'), queued: count('queued'), denied: count('denied'), unchecked: count('unchecked'),
        in_span: most('span'), in_window: most('window'),
        badge: badge.checkVisibility() ? badge.textContent : '',
    };
})";

/// The page is connected, and has drawn all lanes.
const READY: &str = "document.getElementById('connection').dataset.state === 'live'
    && document.querySelectorAll('.drawing > *:first-child').length === 6";

/// The page with two nodes is connected, and has drawn the limit in Redis.
const NODES_READY: &str = "document.getElementById('connection').dataset.state === 'live'
    && document.querySelectorAll('.drawing > *:first-child').length === 3";

pub(crate) struct Page<'a> {
    pub(crate) browser: &'a Browser,
    pub(crate) playground: Playground,
}

impl<'a> Page<'a> {
    pub(crate) fn new(browser: &'a Browser, kind: StoreKind) -> Self {
        Self {
            browser,
            playground: Playground::start(kind),
        }
    }

    /// Opens the page with a scene, like `?paused=yes`, and waits until it is ready.
    pub(crate) async fn open(&self, scene: &str) {
        self.browser.open(&format!("{}/{scene}", self.playground.url())).await;
        self.browser.until(READY).await;
    }

    /// Opens the page with two nodes, and waits until it is ready.
    pub(crate) async fn open_nodes(&self, scene: &str) {
        self.browser
            .open(&format!("{}/nodes.html{scene}", self.playground.url()))
            .await;
        self.browser.until(NODES_READY).await;
    }

    /// Presses the tab key from the start of the page: it must reach these elements, by id or text, each with a visible focus.
    pub(crate) async fn assert_tab_order(&self, expected: &[&str]) {
        for expected in expected {
            self.browser.press([Key::Tab]).await;
            let focused = "(({ id, tagName, textContent }) => tagName === 'BODY' ? '' : id ? `#${id}` : textContent)
                (document.activeElement)";
            self.browser.until(&format!("{focused} === '{expected}'")).await;
            if !expected.is_empty() {
                let seen = "document.activeElement.matches(':focus-visible')
                    && parseFloat(getComputedStyle(document.activeElement).outlineWidth) >= 2
                    && document.activeElement.checkVisibility()";
                assert_eq!(self.browser.value(seen).await, true, "{expected}");
            }
        }
    }

    /// The lanes, in order.
    pub(crate) async fn lanes(&self) -> Vec<LaneCounts> {
        self.read(LANES).await
    }

    /// The lanes, once every lane has received this many requests.
    pub(crate) async fn lanes_after(&self, requests: usize) -> Vec<LaneCounts> {
        let arrived = "[...document.querySelectorAll('.lane')].every((lane) =>
            [...lane.querySelectorAll('[data-count]')].reduce((sum, count) => sum + Number(count.textContent), 0)";
        self.browser.until(&format!("{arrived} === {requests})")).await;
        self.lanes().await
    }

    /// Clicks a button of a paused scene, and waits until its time is this, in milliseconds.
    pub(crate) async fn click_until(&self, button: &str, millis: u32) {
        self.browser.click(button).await;
        self.wait_for_time(millis).await;
    }

    /// Waits until a paused scene is at this time, in milliseconds.
    pub(crate) async fn wait_for_time(&self, millis: u32) {
        let at = format!("new URLSearchParams(location.search).get('at') === '{millis}'");
        self.browser.until(&at).await;
    }

    pub(crate) async fn text(&self, selector: &str) -> String {
        self.read(&format!("document.querySelector('{selector}').textContent"))
            .await
    }

    /// The accessible labels of the drawings.
    pub(crate) async fn drawings(&self) -> Vec<String> {
        self.read("[...document.querySelectorAll('.drawing')].map((drawing) => drawing.getAttribute('aria-label'))")
            .await
    }

    /// The table of the last requests, newest first: the time, and the outcome in each lane.
    pub(crate) async fn table(&self) -> Vec<Vec<String>> {
        if self.browser.value("document.getElementById('requests').open").await == false {
            self.browser.click("#requests summary").await;
            self.browser
                .until("document.querySelector('#requests tbody').children.length > 0")
                .await;
        }
        self.read("[...document.querySelectorAll('#requests tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
            .await
    }

    /// The query of the page's URL.
    pub(crate) async fn search(&self) -> String {
        self.read("location.search").await
    }

    pub(crate) async fn read<T: DeserializeOwned>(&self, expression: &str) -> T {
        serde_json::from_value(self.browser.value(expression).await).unwrap()
    }

    /// Navigates away, so that the page does not log the server's exit, and stops the server. The console must be empty.
    pub(crate) async fn close(self) {
        self.assert_console_is_empty().await;
        self.browser.open("about:blank").await;
    }

    /// The console must be empty.
    pub(crate) async fn assert_console_is_empty(&self) {
        assert_eq!(self.browser.console().await, [""; 0]);
    }
}
