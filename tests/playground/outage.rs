//! The Redis that a playground counts on goes and comes back.

use support::{browser::Browser, patience::eventually};

use crate::playground::{
    model::USUAL,
    program::Place,
    stage::{Seen, Stage},
};

#[tokio::test]
async fn requests_pass_unchecked_while_there_is_no_store() {
    let browser = Browser::start().await;
    let mut stage = Stage::new(&browser, Place::Redis);
    stage.open("?paused=yes&burst=3&play=0-burst").await;
    let before = USUAL.seen(&[0; 3], 0);
    assert_eq!(stage.lanes_after(3).await, before);
    assert_eq!(
        browser
            .value("document.getElementById('trouble').checkVisibility()")
            .await,
        false
    );

    stage.playground.redis.as_mut().unwrap().kill();
    browser.click("#burst").await;
    let unchecked = |lane: Seen| Seen {
        unchecked: 3,
        in_span: lane.in_span + 3,
        in_window: lane.in_window + 3,
        ..lane
    };
    let expected: Vec<_> = before.into_iter().map(unchecked).collect();
    assert_eq!(stage.lanes_after(6).await, expected);
    let trouble = stage.text("#trouble").await;
    assert!(trouble.starts_with("The store cannot be asked: "), "{trouble}");
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
        stage.text("#lane-sliding_log .said").await,
        "Passed unchecked: the store did not answer"
    );
    let through =
        "Let through so far: Token bucket 6, Leaky bucket 6, Fixed window 6, Sliding log 6, Sliding counter 6.";
    assert_eq!(
        browser.value("document.getElementById('timeline').ariaLabel").await,
        through
    );

    // It has forgotten everything, and counts again.
    stage.playground.redis.as_mut().unwrap().restart();
    eventually("there is no trouble", async || {
        browser.click("#step").await;
        browser
            .value("document.getElementById('trouble').checkVisibility()")
            .await
            == false
    })
    .await;
    browser.click("#one").await;
    let seen = stage.lanes_after(7).await;
    assert!(
        seen.iter().all(|lane| (lane.unchecked, lane.refused) == (3, 0)),
        "{seen:?}"
    );
    assert_eq!(stage.text("#lane-sliding_log .said").await, "Admitted: 9 left");
    stage.leave().await;
}
