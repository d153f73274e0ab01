//! An overload: five times the limit for three windows, and what each lane passes per window.

use support::browser::Browser;

use crate::playground::{
    model::{DEFAULTS, Outcome, Settings},
    page::{Page, in_one_browser},
    program::StoreKind,
};

in_one_browser! {
    each_lane_passes_what_it_sustains,
    retry_after_counts_down_to_the_edge,
    short_requests_do_not_exhaust_the_slots,
    the_button_says_what_to_look_for,
}

const SECOND: u64 = 1_000_000;

/// Slow enough that the slots are exhausted too.
const SLOW: Settings = Settings {
    duration: 5 * SECOND,
    ..DEFAULTS
};

/// The times of its requests.
fn times(settings: Settings) -> Vec<u64> {
    let per_window = 5 * settings.limit;
    (0..3 * per_window)
        .map(|nth| nth * settings.window / per_window)
        .collect()
}

/// What passes in each window, per lane, by the model.
fn goodput(settings: Settings) -> Vec<[usize; 3]> {
    let times = times(settings);
    let passed = |outcomes: &Vec<Outcome>| {
        let at = outcomes.iter().zip(&times).filter_map(|(outcome, at)| match outcome {
            Outcome::Admitted => Some(*at),
            Outcome::Queued { released_at } => Some(*released_at),
            Outcome::Denied => None,
        });
        let windows: Vec<_> = at.map(|at| at / settings.window).collect();
        [0, 1, 2].map(|window| windows.iter().filter(|passed| **passed == window).count())
    };
    settings.outcomes(&times).iter().map(passed).collect()
}

async fn explanations(page: &Page<'_>) -> Vec<String> {
    page.read("[...document.querySelectorAll('.why')].map((why) => why.textContent)")
        .await
}

async fn each_lane_passes_what_it_sustains(browser: &Browser) {
    let goodput = goodput(SLOW);
    // A token bucket starts with saved tokens, and a sliding counter approaches the limit from below.
    assert_eq!(
        goodput,
        [
            [19, 10, 10],
            [10, 10, 10],
            [10, 10, 10],
            [10, 10, 10],
            [10, 10, 10],
            [20, 20, 20]
        ]
    );
    for kind in StoreKind::BOTH {
        let page = Page::new(browser, kind);
        page.open("?paused=yes&duration=5000&at=30000&play=0-overload").await;
        assert_eq!(page.lanes_after(150).await, SLOW.lanes(&times(SLOW), 30 * SECOND));
        for (why, [first, second, third]) in explanations(&page).await.iter().zip(&goodput) {
            let expected = format!("50 arrive in 10 s, and per window pass: {first}, {second}, {third}. ");
            assert!(why.starts_with(&expected), "{why}");
        }
        // Windows that have not begun are not listed.
        page.open("?paused=yes&duration=5000&at=9999&play=0-overload").await;
        let why = &explanations(&page).await[2];
        let expected = "50 arrive in 10 s, and per window pass: 10. The first 10 of each window; the others are denied until \
            its edge, which Retry-After counts down to.";
        assert_eq!(why, expected);
        page.close().await;
    }
}

async fn retry_after_counts_down_to_the_edge(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    for (at, delay) in [(12_000, 8), (15_000, 5), (19_000, 1)] {
        page.open(&format!("?paused=yes&at={at}&play=0-overload")).await;
        let said = page.text("#lane-fixed_window .said").await;
        assert_eq!(said, format!("Denied: retry in {delay}.000 s"));
        let response = page.text("#lane-fixed_window pre").await;
        assert!(response.contains(&format!("\nretry-after: {delay}\n")), "{response}");
    }
    page.close().await;
}

async fn short_requests_do_not_exhaust_the_slots(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    page.open("?paused=yes&at=30000&play=0-overload").await;
    let seen = page.lanes_after(150).await;
    assert_eq!(seen, DEFAULTS.lanes(&times(DEFAULTS), 30 * SECOND));
    assert_eq!((seen[5].admitted, seen[5].denied), (150, 0));
    let expected = "50 arrive in 10 s, and per window pass: 50, 50, 50. Nothing is denied: requests of 500 ms hold 3 of 10 \
        slots. Longer ones exhaust them.";
    assert_eq!(explanations(&page).await[5], expected);
    page.close().await;
}

async fn the_button_says_what_to_look_for(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    page.open("?paused=yes&at=1500").await;
    let is_visible = "document.getElementById('hint').checkVisibility()";
    assert_eq!(browser.value(is_visible).await, false);
    browser.click("#overload").await;
    page.lanes_after(1).await;
    browser.until(is_visible).await;
    let expected = "Overload until 31.5 s: five times the limit arrives, and from the second window on each lane passes as many \
        per window as it can sustain; compare which requests pass, and what Retry-After tells the others.";
    assert_eq!(page.text("#hint").await, expected);
    assert_eq!(page.search().await, "?paused=yes&at=1500&play=1500-overload");
    // Each request arrives a fifth of a second after the one before.
    page.click_until("#next", 1700).await;
    page.lanes_after(2).await;
    // A link shows the same, and a new session has no hint.
    page.open(&page.search().await).await;
    page.lanes_after(2).await;
    assert_eq!(page.text("#hint").await, expected);
    browser.click("#restart").await;
    browser.until(&format!("!{is_visible}")).await;
    page.close().await;
}
