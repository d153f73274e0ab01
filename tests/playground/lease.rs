//! A lease: each lane decides by the rule that nodes would share, and says how it differs.

use support::browser::Browser;

use crate::playground::{
    model::{DEFAULTS, Settings},
    page::{Page, in_one_browser},
    program::StoreKind,
};

in_one_browser! {
    a_leased_bucket_holds_less_and_a_leased_log_covers_more,
    a_lane_says_how_its_rule_differs,
    a_bucket_that_is_too_small_is_not_leased,
    a_log_shows_requests_as_long_as_it_stores_them,
}

const LEASED: Settings = Settings {
    lease: 1_500_000,
    ..DEFAULTS
};

/// The explanations of the lanes, in order.
async fn explanations(page: &Page<'_>) -> Vec<String> {
    page.read("[...document.querySelectorAll('.why')].map((why) => why.textContent)")
        .await
}

/// What the lanes admit of bursts at these times, in milliseconds: at once, and later.
async fn admitted(page: &Page<'_>, settings: Settings, bursts: &[u64]) -> [(usize, usize); 6] {
    let (at, lease) = (bursts[bursts.len() - 1], settings.lease / 1000);
    let play: Vec<_> = bursts.iter().map(|at| format!("{at}-burst")).collect();
    page.open(&format!("?paused=yes&lease={lease}&at={at}&play={}", play.join("_")))
        .await;
    let times: Vec<_> = bursts.iter().flat_map(|at| [at * 1000; 20]).collect();
    let seen = page.lanes_after(times.len()).await;
    assert_eq!(seen, settings.lanes(&times, at * 1000));
    let counts: Vec<_> = seen.iter().map(|lane| (lane.admitted, lane.queued)).collect();
    counts.try_into().unwrap()
}

async fn a_leased_bucket_holds_less_and_a_leased_log_covers_more(browser: &Browser) {
    for kind in StoreKind::BOTH {
        let page = Page::new(browser, kind);
        let bursts = [0, 10_500, 11_500];
        for (settings, expected) in [
            (DEFAULTS, [(20, 0), (2, 18), (20, 0), (20, 0), (11, 0), (20, 0)]),
            // The log still has the first burst when the second arrives.
            (LEASED, [(16, 0), (2, 18), (20, 0), (10, 0), (11, 0), (20, 0)]),
        ] {
            assert_eq!(admitted(&page, settings, &bursts[..2]).await, expected);
        }
        // When the third arrives, the window and the lease are over.
        let expected = [(17, 0), (2, 19), (20, 0), (20, 0), (12, 0), (30, 0)];
        assert_eq!(admitted(&page, LEASED, &bursts).await, expected);
        let drawings = page.drawings().await;
        assert_eq!((&*drawings[0], &*drawings[3]), ("0 of 8 tokens", "10 of 10 in the log"));
        page.close().await;
    }
}

async fn a_lane_says_how_its_rule_differs(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    page.open("?paused=yes").await;
    assert_eq!(browser.value("document.getElementById('lease').value").await, "0");
    let without = explanations(&page).await;
    assert!(without.iter().all(|why| !why.contains("eased")), "{without:?}");
    page.open("?paused=yes&lease=0").await;
    assert_eq!(explanations(&page).await, without);

    page.open("?paused=yes&lease=1500").await;
    assert_eq!(
        explanations(&page).await,
        [
            "A burst may take the 8 saved tokens; then 10 are refilled in 10 s. \
             Leased for 1500 ms: its capacity is 8 instead of 10."
                .to_owned(),
            format!(
                "{} Not leased: each request in a queue has a departure of its own.",
                without[1]
            ),
            format!("{} Leased for 1500 ms: the rule is the same.", without[2]),
            "Exact: at most 10 pass in any 11.5 s. The cost is one stored time per admitted request. \
             Leased for 1500 ms: its window is 11.5 s instead of 10 s."
                .to_owned(),
            format!("{} Leased for 1500 ms: the rule is the same.", without[4]),
            format!("{} Not leased: a slot that is held cannot be used later.", without[5]),
        ]
    );
    page.close().await;
}

/// Two are refilled in the time of the lease.
async fn a_bucket_that_is_too_small_is_not_leased(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    for (capacity, tokens, expected) in [
        (3, 1, "Leased for 1500 ms: its capacity is 1 instead of 3."),
        (
            2,
            2,
            "Not leased: the bucket is too small for what is refilled in 1500 ms.",
        ),
    ] {
        page.open(&format!("?paused=yes&lease=1500&capacity={capacity}&play=0-burst"))
            .await;
        let settings = Settings { capacity, ..LEASED };
        let seen = page.lanes_after(20).await;
        assert_eq!(seen, settings.lanes(&[0; 20], 0));
        assert_eq!(seen[0].admitted, tokens);
        let why = &explanations(&page).await[0];
        assert!(why.ends_with(expected), "{why}");
    }
    page.close().await;
}

async fn a_log_shows_requests_as_long_as_it_stores_them(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    for (at, label) in [(60_999, "2 of 10 in the log"), (61_000, "1 of 10 in the log")] {
        let scene = format!("?paused=yes&window=1&lease=60000&at={at}&play=0-one_30000-one");
        page.open(&scene).await;
        page.lanes_after(2).await;
        assert_eq!(page.drawings().await[3], label, "{at}");
    }
    page.close().await;
}
