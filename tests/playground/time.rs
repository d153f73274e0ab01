//! The scene's time: stopped, stepped, slowed, and gone through request by request.

use fantoccini::Locator;

use support::browser::Browser;

use crate::playground::{
    model::Terms,
    program::Place,
    stage::{Stage, in_one_browser},
};

in_one_browser! {
    a_step_is_a_hundredth_of_the_window,
    memory_fades_as_each_algorithm_has_it,
    next_goes_to_what_comes_next_and_no_further,
    a_stream_comes_at_its_rate_until_it_is_stopped,
    a_stream_is_as_exact_as_the_limit,
    pause_stops_the_time_and_speed_is_in_the_address,
}

async fn a_step_is_a_hundredth_of_the_window(browser: &Browser) {
    for place in Place::BOTH {
        let stage = Stage::new(browser, place);
        stage.open("?paused=yes").await;
        assert_eq!(stage.text("#step-size").await, "0.10 s");
        browser.click("#burst").await;
        stage.lanes_after(20).await;
        let at_first = [
            "0 of 10 tokens",
            "9 waiting, 10 of 10 full",
            "10 of 10 in this window",
            "10 of 10 remembered",
            "10 of 10 by its estimate",
        ];
        assert_eq!(stage.drawings().await, at_first);
        for step in 1..=9 {
            stage.click_to("#step", step * 100).await;
            assert_eq!(stage.text("#now").await, format!("0.{step}0 s"));
            assert_eq!(stage.drawings().await, at_first, "{step}");
        }
        // A token and a leaver in a second.
        stage.click_to("#step", 1000).await;
        assert_eq!(stage.text("#now").await, "1.00 s");
        let drawings = stage.drawings().await;
        assert_eq!(drawings[..2], ["1 of 10 tokens", "8 waiting, 9 of 10 full"]);
        assert_eq!(drawings[2..], at_first[2..]);
        stage.leave().await;
    }
}

async fn memory_fades_as_each_algorithm_has_it(browser: &Browser) {
    let stage = Stage::new(browser, Place::Memory);
    // What is left of ten requests at 0, right before the edge, at it, a millisecond and a tenth of a window after it.
    for (at, expected) in [
        (
            9999,
            [
                "9 of 10 tokens",
                "0 waiting, 1 of 10 full",
                "10 of 10 in this window",
                "10 of 10 remembered",
                "10 of 10 by its estimate",
            ],
        ),
        (
            10_000,
            [
                "10 of 10 tokens",
                "0 waiting, 0 of 10 full",
                "0 of 10 in this window",
                "0 of 10 remembered",
                "10 of 10 by its estimate",
            ],
        ),
        (
            10_001,
            [
                "10 of 10 tokens",
                "0 waiting, 0 of 10 full",
                "0 of 10 in this window",
                "0 of 10 remembered",
                "9 of 10 by its estimate",
            ],
        ),
        (
            19_000,
            [
                "10 of 10 tokens",
                "0 waiting, 0 of 10 full",
                "0 of 10 in this window",
                "0 of 10 remembered",
                "1 of 10 by its estimate",
            ],
        ),
        (
            19_001,
            [
                "10 of 10 tokens",
                "0 waiting, 0 of 10 full",
                "0 of 10 in this window",
                "0 of 10 remembered",
                "0 of 10 by its estimate",
            ],
        ),
    ] {
        stage.open(&format!("?paused=yes&at={at}&play=0-burst")).await;
        assert_eq!(stage.drawings().await, expected, "{at}");
    }
    stage.leave().await;
}

async fn next_goes_to_what_comes_next_and_no_further(browser: &Browser) {
    let stage = Stage::new(browser, Place::Memory);
    stage.open("?paused=yes&window=600&play=3-one_3-one_77777-burst").await;
    assert_eq!(stage.text("#step-size").await, "6.00 s");
    assert_eq!(stage.text("#now").await, "0.00 s");
    stage.click_to("#next", 3).await;
    stage.lanes_after(2).await;
    stage.click_to("#step", 6003).await;
    stage.click_to("#next", 77_777).await;
    stage.lanes_after(22).await;
    // Nothing comes any more: it stays.
    browser.click("#next").await;
    stage.click_to("#step", 83_777).await;
    stage.leave().await;
}

async fn a_stream_comes_at_its_rate_until_it_is_stopped(browser: &Browser) {
    let stage = Stage::new(browser, Place::Memory);
    stage.open("?paused=yes&rate=8").await;
    browser.click("#stream").await;
    stage.lanes_after(1).await;
    assert_eq!(
        browser.value("document.getElementById('stream').ariaPressed").await,
        "true"
    );
    for came in 1..=4 {
        stage.click_to("#next", came * 125).await;
    }
    stage.lanes_after(5).await;
    let times: Vec<_> = stage.table().await.into_iter().map(|row| row[0].clone()).collect();
    assert_eq!(times, ["0.500 s", "0.375 s", "0.250 s", "0.125 s", "0.000 s"]);
    browser.click("#stream").await;
    browser
        .until("document.getElementById('stream').ariaPressed === 'false'")
        .await;
    for step in 1..=3 {
        stage.click_to("#step", 500 + step * 100).await;
    }
    stage.lanes_after(5).await;
    assert_eq!(stage.search().await, "?paused=yes&rate=8&at=800&play=0-stream_500-stop");
    stage.leave().await;
}

/// Three a second are three a second, and nobody who comes as often as he may is refused for a part of a millisecond.
async fn a_stream_is_as_exact_as_the_limit(browser: &Browser) {
    let stage = Stage::new(browser, Place::Memory);
    let terms = Terms {
        limit: 3,
        window: 1_000_000,
        capacity: 3,
        buckets: 1,
    };
    stage
        .open("?limit=3&window=1&rate=3&paused=yes&at=20000&play=0-stream")
        .await;
    let times: Vec<u64> = (0..=60).map(|nth| nth * 1_000_000 / 3).collect();
    let seen = stage.lanes_after(61).await;
    assert_eq!(seen, terms.seen(&times, 20_000_000));
    assert_eq!(seen[3].admitted, 61);
    // The scene stands where a request comes, be it between two milliseconds, and can be opened there.
    browser.click("#next").await;
    stage.lanes_after(62).await;
    browser.until("location.search.includes('at=20333.333&')").await;
    browser.click("#one").await;
    let seen = stage.lanes_after(63).await;
    let search = stage.search().await;
    assert!(search.ends_with("play=0-stream_20333.333-one"), "{search}");
    stage.open(&search).await;
    assert_eq!(stage.lanes_after(63).await, seen);
    stage.leave().await;
}

async fn pause_stops_the_time_and_speed_is_in_the_address(browser: &Browser) {
    let stage = Stage::new(browser, Place::Memory);
    stage.open("").await;
    browser
        .until("document.getElementById('now').textContent !== '0.00 s'")
        .await;
    assert_eq!(stage.search().await, "");
    browser.click("#pause").await;
    browser.until("location.search.startsWith('?paused=yes&at=')").await;
    let (stopped, search) = (stage.text("#now").await, stage.search().await);
    assert_eq!(
        browser.value("document.getElementById('pause').ariaPressed").await,
        "true"
    );
    browser.click("#one").await;
    stage.lanes_after(1).await;
    assert_eq!(stage.text("#now").await, stopped);
    assert!(stage.search().await.starts_with(&search));

    let speed = browser.client.find(Locator::Id("speed")).await.unwrap();
    speed.select_by_value("0.25").await.unwrap();
    browser
        .until("new URLSearchParams(location.search).get('speed') === '0.25'")
        .await;
    browser.client.refresh().await.unwrap();
    browser.until("document.getElementById('speed').value === '0.25'").await;
    stage.lanes_after(1).await;
    assert_eq!(stage.text("#now").await, stopped);

    browser.click("#pause").await;
    browser
        .until(&format!("document.getElementById('now').textContent !== '{stopped}'"))
        .await;
    let said =
        "((said) => [said.get('speed'), said.get('paused'), said.get('at')])(new URLSearchParams(location.search))";
    let said: [Option<String>; 3] = stage.read(said).await;
    assert_eq!(said, [Some("0.25".to_owned()), None, None]);
    stage.leave().await;
}
