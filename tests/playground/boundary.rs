//! Twice the limit across a window's edge: who lets how many through in a fifth of a window, and why.

use support::browser::Browser;

use crate::playground::{
    model::{Terms, USUAL},
    program::Place,
    stage::{Seen, Stage, in_one_browser},
};

in_one_browser! {
    every_lane_has_its_exact_numbers_across_the_edge,
    the_fixed_window_is_the_one_that_lets_twenty_through_and_says_why,
}

/// Once the queue has let everybody leave.
const AFTERWARDS: u64 = 40_000_000;

async fn plays(stage: &Stage<'_>, scene: &str, terms: Terms) -> Vec<Seen> {
    let times = terms.across_the_edge();
    for at in [12_000_000, AFTERWARDS] {
        let scene = format!("?paused=yes&play=0-edge&at={}{scene}", at / 1000);
        stage.open(&scene).await;
        let came: Vec<u64> = times.iter().copied().filter(|time| *time <= at).collect();
        let seen = stage.lanes_after(came.len()).await;
        assert_eq!(seen, terms.seen(&came, at), "{scene}");
    }
    stage.lanes().await
}

async fn every_lane_has_its_exact_numbers_across_the_edge(browser: &Browser) {
    for place in Place::BOTH {
        let stage = Stage::new(browser, place);
        let seen = plays(&stage, "", USUAL).await;
        let numbers = seen
            .iter()
            .map(|lane| ([lane.admitted, lane.queued, lane.refused], lane.in_span, &*lane.badge));
        let expected = [
            // Ten are saved up, and one comes back in the second from the first request to the edge.
            ([11, 0, 9], 11, "1 over the limit"),
            // The same, but they leave a second apart.
            ([1, 10, 9], 2, ""),
            // Ten in each window.
            ([20, 0, 0], 20, "10 over the limit"),
            // All of the first ten are younger than ten seconds.
            ([10, 0, 10], 10, ""),
            // A tenth of a second after the edge, 99% of ten are nine.
            ([11, 0, 9], 11, "1 over the limit"),
        ];
        assert_eq!(numbers.collect::<Vec<_>>(), expected);

        plays(&stage, "&buckets=5", Terms { buckets: 5, ..USUAL }).await;
        let other = Terms {
            limit: 7,
            window: 3_000_000,
            capacity: 4,
            buckets: 3,
        };
        plays(&stage, "&limit=7&window=3&capacity=4&buckets=3", other).await;
        stage.leave().await;
    }
}

async fn the_fixed_window_is_the_one_that_lets_twenty_through_and_says_why(browser: &Browser) {
    let stage = Stage::new(browser, Place::Memory);
    stage.open("?paused=yes").await;
    let before = stage.text("#lane-fixed_window .why").await;
    let expected = "Up to 10 at any time before the edge, and as many right after it: each window is on its own.";
    assert_eq!(before, expected);

    // Pressed for, and watched one by one.
    stage.click_to("#edge", 8500).await;
    let times = USUAL.across_the_edge();
    for (came, at) in (1..).zip(&times) {
        stage.click_to("#next", (at / 1000) as u32).await;
        assert_eq!(stage.lanes_after(came).await, USUAL.seen(&times[..came], *at));
    }
    let twenty = stage.lanes().await.into_iter().filter(|lane| lane.in_span == 20);
    assert_eq!(twenty.map(|lane| lane.name).collect::<Vec<_>>(), ["fixed_window"]);
    let after = stage.text("#lane-fixed_window .why").await;
    let expected = "20 in 10 s: the count started anew in between. Each window kept to 10; the two together did not.";
    assert_eq!(after, expected);
    let why = stage.text("#lane-token_bucket .why").await;
    assert!(why.starts_with("11 in 10 s: up to 10 tokens were saved up"), "{why}");
    assert!(stage.text("#lane-sliding_log .why").await.starts_with("Exact: no 10 s"));
    let over: Vec<String> = stage
        .read("[...document.querySelectorAll('.lane.over')].map(({ id }) => id)")
        .await;
    assert_eq!(over, ["lane-token_bucket", "lane-fixed_window", "lane-sliding_counter"]);
    assert_eq!(stage.text("#lane-fixed_window .most [data-length=span]").await, "2 s");
    stage.leave().await;
}
