//! Concurrent pages: each has its own scene, which is deleted with the page.

use reqwest::Client;

use support::{browser::Browser, redis::keys, wait::until};

use crate::playground::{
    model::DEFAULTS,
    page::{Page, in_one_browser},
    program::StoreKind,
};

in_one_browser! {
    a_scene_is_deleted_with_its_page,
    a_hidden_page_pauses_and_resumes,
    at_most_64_pages_are_open,
}

async fn a_scene_is_deleted_with_its_page(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Redis);
    let mut redis = page.playground.redis.as_ref().unwrap().client();
    page.open("?paused=yes&play=0-burst").await;
    let seen = page.lanes_after(20).await;
    let written = keys(&mut redis);
    assert_eq!(written.len(), 6, "{written:?}");
    assert!(written.iter().all(|key| key.starts_with("playground:")), "{written:?}");

    // Another page has its own counts.
    let first = browser.client.window().await.unwrap();
    let window = browser.client.new_window(false).await.unwrap();
    browser.client.switch_to_window(window.handle).await.unwrap();
    page.open("?paused=yes").await;
    assert_eq!(page.lanes().await, DEFAULTS.lanes(&[], 0));
    browser.click("#one").await;
    assert_eq!(page.lanes_after(1).await, DEFAULTS.lanes(&[0], 0));
    assert_eq!(keys(&mut redis).len(), 12);
    browser.client.close_window().await.unwrap();
    until("the second scene is deleted", || keys(&mut redis) == written);

    browser.client.switch_to_window(first).await.unwrap();
    assert_eq!(page.lanes().await, seen);
    // A restart replaces the scene.
    browser.click("#restart").await;
    until("the first scene is deleted", || keys(&mut redis).is_empty());
    page.lanes_after(0).await;
    browser.click("#one").await;
    page.lanes_after(1).await;
    page.close().await;
    // The playground is killed now, so its last keys may remain.
}

async fn a_hidden_page_pauses_and_resumes(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Redis);
    let mut redis = page.playground.redis.as_ref().unwrap().client();
    page.open("?paused=yes&at=300&play=0-burst").await;
    let seen = page.lanes_after(20).await;
    let first = browser.client.window().await.unwrap();
    let tab = browser.client.new_window(true).await.unwrap();
    browser.client.switch_to_window(tab.handle).await.unwrap();
    until("the hidden scene is deleted", || keys(&mut redis).is_empty());
    browser.client.close_window().await.unwrap();
    browser.client.switch_to_window(first).await.unwrap();
    browser
        .until("document.getElementById('connection').dataset.state === 'live'")
        .await;
    assert_eq!(page.lanes_after(20).await, seen);
    until("it counts again", || keys(&mut redis).len() == 6);
    assert_eq!(page.text("#now").await, "0.30 s");
    page.click_until("#step", 400).await;
    page.close().await;
}

async fn at_most_64_pages_are_open(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    let client = Client::builder().no_proxy().build().unwrap();
    let mut pages = Vec::new();
    for _ in 0..64 {
        let scene = format!("{}/scene?paused=yes", page.playground.url());
        pages.push(client.get(scene).send().await.unwrap());
    }
    browser.open(&format!("{}/?paused=yes", page.playground.url())).await;
    browser
        .until("document.getElementById('connection').dataset.state === 'wrong'")
        .await;
    let full = "session: 64 pages are already open: close one and reload this page.";
    assert_eq!(page.text("#wrong").await, full);
    drop(pages.pop());
    // The playground detects the closed connection with a delay.
    support::wait::eventually("a page is accepted", async || {
        browser.client.refresh().await.unwrap();
        browser
            .until("document.getElementById('connection').dataset.state !== 'connecting'")
            .await;
        page.text("#connection").await == "live"
    })
    .await;
    page.close().await;
}
