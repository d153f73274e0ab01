//! The concurrency lane: each request holds a slot for its duration.

use support::browser::Browser;

use crate::playground::{
    model::{DEFAULTS, Settings},
    page::{Page, in_one_browser},
    program::StoreKind,
};

in_one_browser! {
    slots_are_held_for_the_duration,
    long_requests_are_held_on_redis,
    a_lane_says_how_many_may_pass,
    invalid_durations_are_named,
}

/// The text of the drawing below its label.
const NEXT_FREE: &str = "[...document.querySelectorAll('#lane-concurrency .drawing text')].at(-1).textContent";

/// Two bursts of three requests, and one request when the first burst ends, which was denied a microsecond before.
async fn slots_are_held_for_the_duration(browser: &Browser) {
    for kind in StoreKind::BOTH {
        let page = Page::new(browser, kind);
        let settings = Settings {
            limit: 5,
            capacity: 5,
            duration: 2_000_000,
            ..DEFAULTS
        };
        let mut times = vec![0, 0, 0, 1_000_000, 1_000_000, 1_000_000, 1_999_999];
        let scene = "?paused=yes&limit=5&duration=2000&burst=3&play=0-burst_1000-burst_1999.999-one_2000-one";
        for (at, held, next_free) in [
            (0, 3, "the next is free in 2.0 s"),
            (1000, 5, "the next is free in 1.0 s"),
            (1999, 5, "the next is free in 0.0 s"),
        ] {
            page.open(&format!("{scene}&at={at}")).await;
            assert_eq!(page.drawings().await[5], format!("{held} of 5 slots held"), "{at}");
            assert_eq!(browser.value(NEXT_FREE).await, next_free);
            let arrived: Vec<_> = times.iter().copied().filter(|time| *time <= at * 1000).collect();
            assert_eq!(
                page.lanes_after(arrived.len()).await,
                settings.lanes(&arrived, at * 1000)
            );
        }
        times.push(2_000_000);
        for (at, held, next_free) in [
            (2000, 3, "the next is free in 1.0 s"),
            (3000, 1, "the next is free in 1.0 s"),
            (4000, 0, "all are free"),
        ] {
            page.open(&format!("{scene}&at={at}")).await;
            let seen = page.lanes_after(8).await;
            assert_eq!(seen, settings.lanes(&times, at * 1000));
            assert_eq!((seen[5].admitted, seen[5].denied), (6, 2));
            assert_eq!(page.drawings().await[5], format!("{held} of 5 slots held"), "{at}");
            assert_eq!(browser.value(NEXT_FREE).await, next_free);
        }
        page.close().await;
    }
}

/// Longer than the time to live of a limit that is not renewed.
async fn long_requests_are_held_on_redis(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Redis);
    let scene = "?paused=yes&limit=3&duration=60000&burst=3&play=0-burst";
    for (at, held) in [(59_999, 3), (60_000, 0)] {
        page.open(&format!("{scene}&at={at}")).await;
        page.lanes_after(3).await;
        assert_eq!(page.drawings().await[5], format!("{held} of 3 slots held"), "{at}");
    }
    page.close().await;
}

async fn a_lane_says_how_many_may_pass(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    for (scene, why) in [
        (
            "",
            "At most 10 at once. Each takes 500 ms, so up to 200 may pass in 10 s.",
        ),
        (
            "&limit=3&window=2&duration=1500",
            "At most 3 at once. Each takes 1500 ms, so up to 6 may pass in 2 s.",
        ),
    ] {
        page.open(&format!("?paused=yes&play=0-burst{scene}")).await;
        assert_eq!(page.text("#lane-concurrency .why").await, why);
        assert_eq!(page.text("#lane-concurrency .said").await, "Denied: all slots are held");
    }
    page.close().await;
}

async fn invalid_durations_are_named(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    for duration in ["0", "60001", "x"] {
        browser
            .open(&format!("{}/?paused=yes&duration={duration}", page.playground.url()))
            .await;
        browser
            .until("document.getElementById('connection').dataset.state === 'wrong'")
            .await;
        let message = "Duration (ms): must be a whole number from 1 to 60000.";
        assert_eq!(page.text("#wrong").await, message);
    }
    page.close().await;
}
