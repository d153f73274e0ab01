//! Twice the limit across a window's edge: how many requests each algorithm admits in a fifth of a window.

use support::browser::Browser;

use crate::playground::{
    model::{DEFAULTS, Settings},
    page::{LaneCounts, Page, in_one_browser},
    program::StoreKind,
};

in_one_browser! {
    every_lane_shows_exact_counts_across_the_edge,
    a_fixed_window_admits_twenty_and_explains_why,
}

/// After the queue has drained.
const AFTER_DRAIN: u64 = 40_000_000;

async fn assert_scene(page: &Page<'_>, scene: &str, settings: Settings) -> Vec<LaneCounts> {
    let times = settings.across_the_edge();
    for at in [12_000_000, AFTER_DRAIN] {
        let scene = format!("?paused=yes&play=0-edge&at={}{scene}", at / 1000);
        page.open(&scene).await;
        let arrived: Vec<u64> = times.iter().copied().filter(|time| *time <= at).collect();
        let seen = page.lanes_after(arrived.len()).await;
        assert_eq!(seen, settings.lanes(&arrived, at), "{scene}");
    }
    page.lanes().await
}

async fn every_lane_shows_exact_counts_across_the_edge(browser: &Browser) {
    for kind in StoreKind::BOTH {
        let page = Page::new(browser, kind);
        let seen = assert_scene(&page, "", DEFAULTS).await;
        let numbers = seen
            .iter()
            .map(|lane| ([lane.admitted, lane.queued, lane.denied], lane.in_span, &*lane.badge));
        let expected = [
            // Ten tokens are saved up, and one refills in the second from the first request to the edge.
            ([11, 0, 9], 11, "1 over the limit"),
            // The same, but the queue releases them a second apart.
            ([1, 10, 9], 2, ""),
            // Ten in each window.
            ([20, 0, 0], 20, "10 over the limit"),
            // All of the first ten are younger than ten seconds.
            ([10, 0, 10], 10, ""),
            // A tenth of a second after the edge, 99% of ten are nine.
            ([11, 0, 9], 11, "1 over the limit"),
            // Each takes half a second, so five are held at once. What passes in a window is not limited.
            ([20, 0, 0], 20, ""),
        ];
        assert_eq!(numbers.collect::<Vec<_>>(), expected);

        assert_scene(
            &page,
            "&sub_windows=5",
            Settings {
                sub_windows: 5,
                ..DEFAULTS
            },
        )
        .await;
        let other = Settings {
            limit: 7,
            window: 3_000_000,
            capacity: 4,
            sub_windows: 3,
            ..DEFAULTS
        };
        assert_scene(&page, "&limit=7&window=3&capacity=4&sub_windows=3", other).await;
        page.close().await;
    }
}

async fn a_fixed_window_admits_twenty_and_explains_why(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    page.open("?paused=yes").await;
    let before = page.text("#lane-fixed_window .why").await;
    let expected = "Up to 10 just before the edge, and as many just after it: windows are independent.";
    assert_eq!(before, expected);

    // The same by its button, request by request.
    page.click_until("#edge", 8500).await;
    let times = DEFAULTS.across_the_edge();
    for (arrived, at) in (1..).zip(&times) {
        page.click_until("#next", (at / 1000) as u32).await;
        assert_eq!(page.lanes_after(arrived).await, DEFAULTS.lanes(&times[..arrived], *at));
    }
    let twenty = page.lanes().await.into_iter().filter(|lane| lane.in_span == 20);
    assert_eq!(
        twenty.map(|lane| lane.name).collect::<Vec<_>>(),
        ["fixed_window", "concurrency"]
    );
    let after = page.text("#lane-fixed_window .why").await;
    let expected = "20 in 10 s: the count was reset in between. Each window admitted at most 10, both together more.";
    assert_eq!(after, expected);
    let why = page.text("#lane-token_bucket .why").await;
    assert!(why.starts_with("11 in 10 s: up to 10 tokens were saved"), "{why}");
    assert!(
        page.text("#lane-sliding_log .why")
            .await
            .starts_with("Exact: at most 10 pass in any 10 s")
    );
    let over: Vec<String> = page
        .read("[...document.querySelectorAll('.lane.over')].map(({ id }) => id)")
        .await;
    assert_eq!(over, ["lane-token_bucket", "lane-fixed_window", "lane-sliding_counter"]);
    assert_eq!(page.text("#lane-fixed_window .most [data-length=span]").await, "2 s");
    page.close().await;
}
