//! What the user sets: a scene of its own each time, or words on what is wrong.

use fantoccini::{Locator, key::Key};

use support::browser::Browser;

use crate::playground::{
    model::{Terms, USUAL},
    program::Place,
    stage::{Stage, in_one_browser},
};

in_one_browser! {
    what_is_set_starts_a_scene_anew_and_back_returns,
    what_is_wrong_is_told_by_name_until_it_is_right,
    a_scene_has_room_for_a_hundred_presses,
}

/// Writes a value in place of the one that is there, or none, and leaves the field. It returns when the page has it.
async fn set(browser: &Browser, field: &str, value: &str) {
    browser
        .value(&format!("document.getElementById('{field}').select()"))
        .await;
    let input = browser.client.find(Locator::Id(field)).await.unwrap();
    let keys = if value.is_empty() {
        char::from(Key::Backspace).to_string()
    } else {
        value.to_owned()
    };
    input
        .send_keys(&format!("{keys}{}", char::from(Key::Tab)))
        .await
        .unwrap();
    let asked = format!("new URLSearchParams(location.search).get(document.getElementById('{field}').name) ?? ''");
    browser.until(&format!("({asked}) === '{value}'")).await;
}

async fn is_told(stage: &Stage<'_>, words: &str, invalid: &[&str]) {
    stage
        .browser
        .until("document.getElementById('connection').dataset.state === 'wrong'")
        .await;
    assert_eq!(stage.text("#wrong").await, words);
    assert_eq!(
        stage
            .browser
            .value("document.getElementById('wrong').checkVisibility()")
            .await,
        true
    );
    assert_eq!(stage.text("#connection").await, "not started");
    let marked: Vec<String> = stage
        .read("[...document.querySelectorAll('[aria-invalid=true]')].map(({ id }) => id)")
        .await;
    assert_eq!(marked, invalid);
}

async fn plays(stage: &Stage<'_>, search: &str) {
    let plays =
        format!("document.getElementById('connection').dataset.state === 'live' && location.search === '{search}'");
    stage.browser.until(&plays).await;
    assert_eq!(
        stage
            .browser
            .value("document.getElementById('wrong').checkVisibility()")
            .await,
        false
    );
    assert_eq!(
        stage
            .browser
            .value("document.querySelector('[aria-invalid=true]')")
            .await,
        serde_json::Value::Null
    );
}

async fn what_is_set_starts_a_scene_anew_and_back_returns(browser: &Browser) {
    let stage = Stage::new(browser, Place::Memory);
    stage.open("?paused=yes").await;
    browser.click("#burst").await;
    stage.lanes_after(20).await;
    stage.click_to("#step", 100).await;

    set(browser, "limit", "4").await;
    plays(&stage, "?paused=yes&limit=4&at=0").await;
    assert_eq!(stage.lanes_after(0).await, USUAL.seen(&[], 0));
    assert_eq!(
        stage
            .browser
            .value("document.getElementById('timeline').ariaLabel")
            .await,
        "Nothing has come yet."
    );
    // What nobody has set goes with the limit.
    let fields: Vec<String> = stage
        .read("['capacity', 'size'].map((id) => document.getElementById(id).value)")
        .await;
    assert_eq!(fields, ["4", "8"]);
    assert_eq!(stage.text("#burst-size").await, "8");
    set(browser, "window", "2").await;
    plays(&stage, "?paused=yes&limit=4&window=2&at=0").await;
    set(browser, "capacity", "3").await;
    plays(&stage, "?paused=yes&limit=4&window=2&capacity=3&at=0").await;
    set(browser, "size", "5").await;
    plays(&stage, "?paused=yes&limit=4&window=2&capacity=3&burst=5&at=0").await;
    browser.click("#burst").await;
    let terms = Terms {
        limit: 4,
        window: 2_000_000,
        capacity: 3,
        buckets: 1,
    };
    assert_eq!(stage.lanes_after(5).await, terms.seen(&[0; 5], 0));
    stage.click_to("#step", 20).await;

    // What is empty is as it would be for most.
    set(browser, "capacity", "").await;
    plays(&stage, "?paused=yes&limit=4&window=2&burst=5&at=0").await;
    for _ in 0..5 {
        browser.client.back().await.unwrap();
    }
    plays(&stage, "?paused=yes&at=100&play=0-burst").await;
    assert_eq!(stage.lanes_after(20).await, USUAL.seen(&[0; 20], 100_000));
    assert_eq!(
        stage.browser.value("document.getElementById('limit').value").await,
        "10"
    );

    // Starting over keeps what is set, and nothing of what was pressed for.
    browser.click("#restart").await;
    plays(&stage, "?paused=yes&at=0").await;
    assert_eq!(stage.lanes_after(0).await, USUAL.seen(&[], 0));
    stage.leave().await;
}

async fn what_is_wrong_is_told_by_name_until_it_is_right(browser: &Browser) {
    let stage = Stage::new(browser, Place::Memory);
    stage.open("?paused=yes").await;
    set(browser, "limit", "0").await;
    is_told(&stage, "Limit: must be a whole number from 1 to 200.", &["limit"]).await;
    assert_eq!(browser.value("document.getElementById('limit').value").await, "0");
    set(browser, "rate", "1.5").await;
    let both = "Limit: must be a whole number from 1 to 200. Stream (per s): must be a whole number from 1 to 100.";
    is_told(&stage, both, &["limit", "rate"]).await;
    // What is right is no longer marked, though the rest is not.
    set(browser, "limit", "5").await;
    is_told(
        &stage,
        "Stream (per s): must be a whole number from 1 to 100.",
        &["rate"],
    )
    .await;
    set(browser, "rate", "3").await;
    plays(&stage, "?paused=yes&limit=5&rate=3&at=0").await;

    set(browser, "buckets", "7").await;
    is_told(
        &stage,
        "Sub-windows: must divide the window evenly: use 5 or 8.",
        &["buckets"],
    )
    .await;
    browser.client.back().await.unwrap();
    plays(&stage, "?paused=yes&limit=5&rate=3&at=0").await;

    // What no field can set right is set right by starting over.
    browser
        .open(&format!(
            "{}/?paused=yes&speed=7&at=x&play=0-sneeze",
            stage.playground.url()
        ))
        .await;
    let wrong = "at: must be a number of milliseconds. play: must be up to 100 presses in order, like 0-burst_3200-edge: \
        milliseconds, then one, burst, stream, stop or edge. speed: must be 0.1, 0.25, 0.5, 1 or 4.";
    is_told(&stage, wrong, &[]).await;
    browser.click("#restart").await;
    plays(&stage, "?paused=yes&at=0").await;
    stage.leave().await;
}

async fn a_scene_has_room_for_a_hundred_presses(browser: &Browser) {
    let stage = Stage::new(browser, Place::Memory);
    let play = vec!["0-one"; 97].join("_");
    stage.open(&format!("?paused=yes&play={play}_0-stream")).await;
    stage.lanes_after(98).await;
    browser.click("#one").await;
    stage.lanes_after(99).await;
    assert_eq!(
        browser
            .value("document.getElementById('trouble').checkVisibility()")
            .await,
        false
    );
    browser.click("#one").await;
    browser
        .until("document.getElementById('trouble').textContent === 'No more fits into this scene: start over.'")
        .await;
    stage.lanes_after(99).await;
    // There is always room to end what goes on, and none for more.
    browser.click("#stream").await;
    browser
        .until("document.getElementById('stream').ariaPressed === 'false'")
        .await;
    let search = stage.search().await;
    assert!(search.contains("_0-stream_0-one_0-stop"), "{search}");
    stage.open(&search).await;
    stage.lanes_after(99).await;
    stage.leave().await;
}
