//! Several pages: each plays a scene of its own, which is forgotten with it.

use reqwest::Client;

use support::{browser::Browser, patience::until, redis::keys};

use crate::playground::{
    model::USUAL,
    program::Place,
    stage::{Stage, in_one_browser},
};

in_one_browser! {
    a_scene_is_forgotten_with_its_page,
    a_page_that_nobody_looks_at_rests_and_goes_on,
    there_is_room_for_64_pages,
}

async fn a_scene_is_forgotten_with_its_page(browser: &Browser) {
    let stage = Stage::new(browser, Place::Redis);
    let mut redis = stage.playground.redis.as_ref().unwrap().client();
    stage.open("?paused=yes&play=0-burst").await;
    let seen = stage.lanes_after(20).await;
    let written = keys(&mut redis);
    assert_eq!(written.len(), 5, "{written:?}");
    assert!(written.iter().all(|key| key.starts_with("playground:")), "{written:?}");

    // Another page counts for itself.
    let first = browser.client.window().await.unwrap();
    let window = browser.client.new_window(false).await.unwrap();
    browser.client.switch_to_window(window.handle).await.unwrap();
    stage.open("?paused=yes").await;
    assert_eq!(stage.lanes().await, USUAL.seen(&[], 0));
    browser.click("#one").await;
    assert_eq!(stage.lanes_after(1).await, USUAL.seen(&[0], 0));
    assert_eq!(keys(&mut redis).len(), 10);
    browser.client.close_window().await.unwrap();
    until("the second is forgotten", || keys(&mut redis) == written);

    browser.client.switch_to_window(first).await.unwrap();
    assert_eq!(stage.lanes().await, seen);
    // Another scene in its place.
    browser.click("#restart").await;
    until("the first is forgotten", || keys(&mut redis).is_empty());
    stage.lanes_after(0).await;
    browser.click("#one").await;
    stage.lanes_after(1).await;
    stage.leave().await;
    // The program was killed with its page gone: whether it had the time to forget is not known.
}

async fn a_page_that_nobody_looks_at_rests_and_goes_on(browser: &Browser) {
    let stage = Stage::new(browser, Place::Redis);
    let mut redis = stage.playground.redis.as_ref().unwrap().client();
    stage.open("?paused=yes&at=300&play=0-burst").await;
    let seen = stage.lanes_after(20).await;
    let first = browser.client.window().await.unwrap();
    let tab = browser.client.new_window(true).await.unwrap();
    browser.client.switch_to_window(tab.handle).await.unwrap();
    until("it rests", || keys(&mut redis).is_empty());
    browser.client.close_window().await.unwrap();
    browser.client.switch_to_window(first).await.unwrap();
    browser
        .until("document.getElementById('connection').dataset.state === 'live'")
        .await;
    assert_eq!(stage.lanes_after(20).await, seen);
    until("it counts again", || keys(&mut redis).len() == 5);
    assert_eq!(stage.text("#now").await, "0.30 s");
    stage.click_to("#step", 400).await;
    stage.leave().await;
}

async fn there_is_room_for_64_pages(browser: &Browser) {
    let stage = Stage::new(browser, Place::Memory);
    let client = Client::builder().no_proxy().build().unwrap();
    let mut pages = Vec::new();
    for _ in 0..64 {
        let scene = format!("{}/scene?paused=yes", stage.playground.url());
        pages.push(client.get(scene).send().await.unwrap());
    }
    browser.open(&format!("{}/?paused=yes", stage.playground.url())).await;
    browser
        .until("document.getElementById('connection').dataset.state === 'wrong'")
        .await;
    let full = "scene: 64 pages are open already: close one, and load this one again.";
    assert_eq!(stage.text("#wrong").await, full);
    drop(pages.pop());
    // The program learns of it in its own time.
    support::patience::eventually("there is room", async || {
        browser.client.refresh().await.unwrap();
        browser
            .until("document.getElementById('connection').dataset.state !== 'connecting'")
            .await;
        stage.text("#connection").await == "live"
    })
    .await;
    stage.leave().await;
}
