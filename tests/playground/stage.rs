//! A playground that a browser looks at, and what there is to see.

use serde::{Deserialize, de::DeserializeOwned};

use support::browser::Browser;

use crate::playground::program::{Place, Playground};

/// One test that does these in turn, in one browser: most take less time than it takes to start one. Each is an
/// `async fn name(browser: &Browser)` that leaves the browser as it was.
macro_rules! in_one_browser {
    ($($part:ident),* $(,)?) => {
        #[tokio::test]
        async fn in_one_browser() {
            let browser = Browser::start().await;
            $(
                // Seen when it fails.
                println!("{}", stringify!($part));
                $part(&browser).await;
            )*
        }
    };
}
pub(crate) use in_one_browser;

/// What a lane shows in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Seen {
    pub(crate) name: String,
    pub(crate) admitted: usize,
    pub(crate) queued: usize,
    pub(crate) refused: usize,
    pub(crate) unchecked: usize,
    /// The most that passed in a fifth of a window, and in a window.
    pub(crate) in_span: usize,
    pub(crate) in_window: usize,
    /// What is said of a lane that let too many through.
    pub(crate) badge: String,
}

const LANES: &str = "[...document.querySelectorAll('.lane')].map((lane) => {
    const part = (selector) => lane.querySelector(selector);
    const count = (kind) => Number(part(`[data-count=${kind}]`).textContent);
    const most = (length) => Number(part(`[data-most=${length}]`).textContent);
    const badge = part('.badge');
    return {
        name: lane.id.replace('lane-', ''),
        admitted: count('admitted'), queued: count('queued'), refused: count('refused'), unchecked: count('unchecked'),
        in_span: most('span'), in_window: most('window'),
        badge: badge.checkVisibility() ? badge.textContent : '',
    };
})";

/// The page is alive, and has drawn all lanes.
const READY: &str = "document.getElementById('connection').dataset.state === 'live'
    && document.querySelectorAll('.drawing > *:first-child').length === 5";

pub(crate) struct Stage<'a> {
    pub(crate) browser: &'a Browser,
    pub(crate) playground: Playground,
}

impl<'a> Stage<'a> {
    pub(crate) fn new(browser: &'a Browser, place: Place) -> Self {
        Self {
            browser,
            playground: Playground::start(place),
        }
    }

    /// Opens the page with a scene, and returns when it is played: `?paused=yes`.
    pub(crate) async fn open(&self, scene: &str) {
        self.browser.open(&format!("{}/{scene}", self.playground.url())).await;
        self.browser.until(READY).await;
    }

    /// What the lanes show, in their order.
    pub(crate) async fn lanes(&self) -> Vec<Seen> {
        self.read(LANES).await
    }

    /// The same, once so many requests have come to every lane.
    pub(crate) async fn lanes_after(&self, requests: usize) -> Vec<Seen> {
        let came = "[...document.querySelectorAll('.lane')].every((lane) =>
            [...lane.querySelectorAll('[data-count]')].reduce((sum, count) => sum + Number(count.textContent), 0)";
        self.browser.until(&format!("{came} === {requests})")).await;
        self.lanes().await
    }

    /// Presses a button of a scene that stands still, and returns when its time is this, in milliseconds.
    pub(crate) async fn click_to(&self, button: &str, millis: u32) {
        self.browser.click(button).await;
        self.stands_at(millis).await;
    }

    /// Returns when the scene stands still at this time, in milliseconds.
    pub(crate) async fn stands_at(&self, millis: u32) {
        let at = format!("new URLSearchParams(location.search).get('at') === '{millis}'");
        self.browser.until(&at).await;
    }

    pub(crate) async fn text(&self, selector: &str) -> String {
        self.read(&format!("document.querySelector('{selector}').textContent"))
            .await
    }

    /// What the drawings say to those who do not see them.
    pub(crate) async fn drawings(&self) -> Vec<String> {
        self.read("[...document.querySelectorAll('.drawing')].map((drawing) => drawing.getAttribute('aria-label'))")
            .await
    }

    /// The rows of the last requests, newest first: when, and what became of it in each lane.
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

    /// The page's address after its host.
    pub(crate) async fn search(&self) -> String {
        self.read("location.search").await
    }

    pub(crate) async fn read<T: DeserializeOwned>(&self, expression: &str) -> T {
        serde_json::from_value(self.browser.value(expression).await).unwrap()
    }

    /// Leaves the page for nothing, so that it does not see its server go, and ends that. The page had nothing to complain of.
    pub(crate) async fn leave(self) {
        self.no_complaints().await;
        self.browser.open("about:blank").await;
    }

    /// Nothing was written to the console.
    pub(crate) async fn no_complaints(&self) {
        assert_eq!(self.browser.console().await, [""; 0]);
    }
}
