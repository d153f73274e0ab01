//! The playground's Redis is killed and restarted.

use support::{browser::Browser, wait::eventually};

use crate::playground::{
    model::DEFAULTS,
    page::{LaneCounts, Page},
    program::StoreKind,
};

#[tokio::test]
async fn requests_pass_unchecked_while_redis_is_down() {
    let browser = Browser::start().await;
    let mut page = Page::new(&browser, StoreKind::Redis);
    page.open("?paused=yes&burst=3&play=0-burst").await;
    let before = DEFAULTS.lanes(&[0; 3], 0);
    assert_eq!(page.lanes_after(3).await, before);
    assert_eq!(
        browser
            .value("document.getElementById('trouble').checkVisibility()")
            .await,
        false
    );

    page.playground.redis.as_mut().unwrap().kill();
    browser.click("#burst").await;
    let unchecked = |lane: LaneCounts| LaneCounts {
        unchecked: 3,
        in_span: lane.in_span + 3,
        in_window: lane.in_window + 3,
        ..lane
    };
    let expected: Vec<_> = before.into_iter().map(unchecked).collect();
    assert_eq!(page.lanes_after(6).await, expected);
    let trouble = page.text("#trouble").await;
    assert!(trouble.starts_with("The store failed: "), "{trouble}");
    assert_eq!(
        browser
            .value("document.getElementById('trouble').checkVisibility()")
            .await,
        true
    );
    let counted = browser
        .value("document.querySelector('[data-count=unchecked]').checkVisibility()")
        .await;
    assert_eq!(counted, true);
    assert_eq!(
        page.text("#lane-sliding_log .said").await,
        "Passed unchecked: the store failed"
    );
    let label = "Requests passed: Token bucket 6, Leaky bucket 6, Fixed window 6, Sliding log 6, Sliding counter 6, \
        Concurrency 6.";
    assert_eq!(
        browser.value("document.getElementById('timeline').ariaLabel").await,
        label
    );

    // Redis restarts empty, and counts again.
    page.playground.redis.as_mut().unwrap().restart();
    eventually("the error is hidden", async || {
        browser.click("#step").await;
        browser
            .value("document.getElementById('trouble').checkVisibility()")
            .await
            == false
    })
    .await;
    browser.click("#one").await;
    let seen = page.lanes_after(7).await;
    assert!(
        seen.iter().all(|lane| (lane.unchecked, lane.denied) == (3, 0)),
        "{seen:?}"
    );
    assert_eq!(page.text("#lane-sliding_log .said").await, "Admitted: 9 left");
    page.close().await;
}
