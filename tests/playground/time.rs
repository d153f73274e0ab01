//! The scene's time: paused, stepped, slowed, and advanced to the next request.

use fantoccini::Locator;

use support::browser::Browser;

use crate::playground::{
    model::{DEFAULTS, Settings},
    page::{Page, in_one_browser},
    program::StoreKind,
};

in_one_browser! {
    a_step_is_a_hundredth_of_the_window,
    counts_expire_by_each_algorithm,
    next_advances_to_the_next_request,
    a_stream_sends_at_its_rate_until_stopped,
    a_stream_at_the_limit_is_not_denied,
    pause_stops_time_and_speed_is_in_the_url,
}

async fn a_step_is_a_hundredth_of_the_window(browser: &Browser) {
    for kind in StoreKind::BOTH {
        let page = Page::new(browser, kind);
        page.open("?paused=yes").await;
        assert_eq!(page.text("#step-size").await, "0.10 s");
        browser.click("#burst").await;
        page.lanes_after(20).await;
        let at_first = [
            "0 of 10 tokens",
            "9 waiting, 10 of 10 full",
            "10 of 10 in this window",
            "10 of 10 in the log",
            "10 of 10 estimated",
            "10 of 10 slots held",
        ];
        assert_eq!(page.drawings().await, at_first);
        for step in 1..=9 {
            page.click_until("#step", step * 100).await;
            assert_eq!(page.text("#now").await, format!("0.{step}0 s"));
            let drawings = page.drawings().await;
            assert_eq!(drawings[..5], at_first[..5], "{step}");
            // Every request takes half a second.
            let held = if step < 5 { 10 } else { 0 };
            assert_eq!(drawings[5], format!("{held} of 10 slots held"), "{step}");
        }
        // One token refills and one queued request is released per second.
        page.click_until("#step", 1000).await;
        assert_eq!(page.text("#now").await, "1.00 s");
        let drawings = page.drawings().await;
        assert_eq!(drawings[..2], ["1 of 10 tokens", "8 waiting, 9 of 10 full"]);
        assert_eq!(drawings[2..5], at_first[2..5]);
        page.close().await;
    }
}

async fn counts_expire_by_each_algorithm(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    // The counts of ten requests at 0, just before the edge, at it, a millisecond after it, and as the next window ends.
    for (at, expected) in [
        (
            9999,
            [
                "9 of 10 tokens",
                "0 waiting, 1 of 10 full",
                "10 of 10 in this window",
                "10 of 10 in the log",
                "10 of 10 estimated",
                "0 of 10 slots held",
            ],
        ),
        (
            10_000,
            [
                "10 of 10 tokens",
                "0 waiting, 0 of 10 full",
                "0 of 10 in this window",
                "0 of 10 in the log",
                "10 of 10 estimated",
                "0 of 10 slots held",
            ],
        ),
        (
            10_001,
            [
                "10 of 10 tokens",
                "0 waiting, 0 of 10 full",
                "0 of 10 in this window",
                "0 of 10 in the log",
                "9 of 10 estimated",
                "0 of 10 slots held",
            ],
        ),
        (
            19_000,
            [
                "10 of 10 tokens",
                "0 waiting, 0 of 10 full",
                "0 of 10 in this window",
                "0 of 10 in the log",
                "1 of 10 estimated",
                "0 of 10 slots held",
            ],
        ),
        (
            19_001,
            [
                "10 of 10 tokens",
                "0 waiting, 0 of 10 full",
                "0 of 10 in this window",
                "0 of 10 in the log",
                "0 of 10 estimated",
                "0 of 10 slots held",
            ],
        ),
    ] {
        page.open(&format!("?paused=yes&at={at}&play=0-burst")).await;
        assert_eq!(page.drawings().await, expected, "{at}");
    }
    page.close().await;
}

async fn next_advances_to_the_next_request(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    page.open("?paused=yes&window=600&play=3-one_3-one_77777-burst").await;
    assert_eq!(page.text("#step-size").await, "6.00 s");
    assert_eq!(page.text("#now").await, "0.00 s");
    page.click_until("#next", 3).await;
    page.lanes_after(2).await;
    page.click_until("#step", 6003).await;
    page.click_until("#next", 77_777).await;
    page.lanes_after(22).await;
    // Without further requests, the time does not change.
    browser.click("#next").await;
    page.click_until("#step", 83_777).await;
    page.close().await;
}

async fn a_stream_sends_at_its_rate_until_stopped(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    page.open("?paused=yes&rate=8").await;
    browser.click("#stream").await;
    page.lanes_after(1).await;
    assert_eq!(
        browser.value("document.getElementById('stream').ariaPressed").await,
        "true"
    );
    for arrived in 1..=4 {
        page.click_until("#next", arrived * 125).await;
    }
    page.lanes_after(5).await;
    let times: Vec<_> = page.table().await.into_iter().map(|row| row[0].clone()).collect();
    assert_eq!(times, ["0.500 s", "0.375 s", "0.250 s", "0.125 s", "0.000 s"]);
    browser.click("#stream").await;
    browser
        .until("document.getElementById('stream').ariaPressed === 'false'")
        .await;
    for step in 1..=3 {
        page.click_until("#step", 500 + step * 100).await;
    }
    page.lanes_after(5).await;
    assert_eq!(page.search().await, "?paused=yes&rate=8&at=800&play=0-stream_500-stop");
    page.close().await;
}

/// Times have microseconds, so rounding does not deny a stream at exactly the limit's rate.
async fn a_stream_at_the_limit_is_not_denied(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    let settings = Settings {
        limit: 3,
        window: 1_000_000,
        capacity: 3,
        ..DEFAULTS
    };
    page.open("?limit=3&window=1&rate=3&paused=yes&at=20000&play=0-stream")
        .await;
    let times: Vec<u64> = (0..=60).map(|nth| nth * 1_000_000 / 3).collect();
    let seen = page.lanes_after(61).await;
    assert_eq!(seen, settings.lanes(&times, 20_000_000));
    assert_eq!(seen[3].admitted, 61);
    // The scene pauses at a request's time, also between two milliseconds, and its URL reproduces it.
    browser.click("#next").await;
    page.lanes_after(62).await;
    browser.until("location.search.includes('at=20333.333&')").await;
    browser.click("#one").await;
    let seen = page.lanes_after(63).await;
    let search = page.search().await;
    assert!(search.ends_with("play=0-stream_20333.333-one"), "{search}");
    page.open(&search).await;
    assert_eq!(page.lanes_after(63).await, seen);
    page.close().await;
}

async fn pause_stops_time_and_speed_is_in_the_url(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    page.open("").await;
    browser
        .until("document.getElementById('now').textContent !== '0.00 s'")
        .await;
    assert_eq!(page.search().await, "");
    browser.click("#pause").await;
    browser.until("location.search.startsWith('?paused=yes&at=')").await;
    let (stopped, search) = (page.text("#now").await, page.search().await);
    assert_eq!(
        browser.value("document.getElementById('pause').ariaPressed").await,
        "true"
    );
    browser.click("#one").await;
    page.lanes_after(1).await;
    assert_eq!(page.text("#now").await, stopped);
    assert!(page.search().await.starts_with(&search));

    let speed = browser.client.find(Locator::Id("speed")).await.unwrap();
    speed.select_by_value("0.25").await.unwrap();
    browser
        .until("new URLSearchParams(location.search).get('speed') === '0.25'")
        .await;
    browser.client.refresh().await.unwrap();
    browser.until("document.getElementById('speed').value === '0.25'").await;
    page.lanes_after(1).await;
    assert_eq!(page.text("#now").await, stopped);

    browser.click("#pause").await;
    browser
        .until(&format!("document.getElementById('now').textContent !== '{stopped}'"))
        .await;
    let query =
        "((query) => [query.get('speed'), query.get('paused'), query.get('at')])(new URLSearchParams(location.search))";
    let query: [Option<String>; 3] = page.read(query).await;
    assert_eq!(query, [Some("0.25".to_owned()), None, None]);
    page.close().await;
}
