//! The address of a scene is the scene: whoever opens it sees the same.

use serde_json::json;

use support::browser::Browser;

use crate::playground::{
    model::USUAL,
    program::Place,
    stage::{Stage, in_one_browser},
};

in_one_browser! {
    a_scene_that_was_played_by_hand_is_the_same_in_another_window,
    the_link_is_copied,
    what_comes_as_somebody_presses_comes_before_it,
}

async fn a_scene_that_was_played_by_hand_is_the_same_in_another_window(browser: &Browser) {
    for place in Place::BOTH {
        let stage = Stage::new(browser, place);
        stage.open("?paused=yes&burst=6").await;
        browser.click("#burst").await;
        stage.lanes_after(6).await;
        for step in 1..=3 {
            stage.click_to("#step", step * 100).await;
        }
        browser.click("#one").await;
        stage.lanes_after(7).await;
        stage.click_to("#step", 400).await;
        // It shows what comes: a side and a half before the edge.
        stage.click_to("#edge", 8500).await;
        for at in [9000, 9100, 9200] {
            stage.click_to("#next", at).await;
        }
        browser.click("#burst").await;
        stage.lanes_after(16).await;
        stage.click_to("#step", 9300).await;

        let mut times = vec![0; 6];
        times.extend([300_000, 9_000_000, 9_100_000, 9_200_000]);
        times.extend([9_200_000; 6]);
        times.push(9_300_000);
        let seen = stage.lanes_after(17).await;
        assert_eq!(seen, USUAL.seen(&times, 9_300_000));
        let search = stage.search().await;
        let expected = "?paused=yes&burst=6&at=9300&play=0-burst_300-one_400-edge_9200-burst";
        assert_eq!(search, expected);
        let (table, drawings) = (stage.table().await, stage.drawings().await);
        assert_eq!(table.len(), 17);

        let first = browser.client.window().await.unwrap();
        let window = browser.client.new_window(false).await.unwrap();
        browser.client.switch_to_window(window.handle).await.unwrap();
        stage.open(&search).await;
        assert_eq!(stage.lanes().await, seen);
        assert_eq!(stage.table().await, table);
        assert_eq!(stage.drawings().await, drawings);
        assert_eq!(stage.text("#now").await, "9.30 s");
        assert_eq!(stage.search().await, search);

        // What is still to come is the same, too. What is done there is not done here.
        for (came, at) in (18..).zip([9400, 9500]) {
            stage.click_to("#next", at).await;
            times.push(u64::from(at) * 1000);
            assert_eq!(stage.lanes_after(came).await, USUAL.seen(&times, u64::from(at) * 1000));
        }
        stage.no_complaints().await;
        browser.client.close_window().await.unwrap();
        browser.client.switch_to_window(first).await.unwrap();
        assert_eq!(stage.lanes().await, seen);
        stage.leave().await;
    }
}

/// Whoever presses has seen what came at that moment, and so it comes first when the scene is played again.
async fn what_comes_as_somebody_presses_comes_before_it(browser: &Browser) {
    let stage = Stage::new(browser, Place::Memory);
    stage.open("?paused=yes").await;
    browser.click("#stream").await;
    stage.lanes_after(1).await;
    for at in [500, 1000] {
        stage.click_to("#next", at).await;
    }
    stage.lanes_after(3).await;
    browser.click("#stream").await;
    browser
        .until("location.search.endsWith('play=0-stream_1000-stop')")
        .await;
    stage.click_to("#step", 1100).await;
    let (seen, table) = (stage.lanes_after(3).await, stage.table().await);
    stage.open(&stage.search().await).await;
    assert_eq!((stage.lanes_after(3).await, stage.table().await), (seen, table));

    stage.open("?paused=yes&play=0-stream_0-stop_0-stream").await;
    stage.lanes_after(2).await;
    stage.leave().await;
}

async fn the_link_is_copied(browser: &Browser) {
    let stage = Stage::new(browser, Place::Memory);
    stage.open("?paused=yes&limit=3").await;
    browser.click("#burst").await;
    stage.lanes_after(6).await;
    let permissions = json!({"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]});
    browser.devtools("Browser.grantPermissions", permissions).await;
    // It says so for two seconds, in which nobody may look.
    const WATCHED: &str = "(() => {
        const share = document.getElementById('share');
        window.said = [];
        const watch = new MutationObserver(() => window.said.push(share.textContent));
        watch.observe(share, { childList: true, characterData: true, subtree: true });
        return true;
    })()";
    assert_eq!(browser.value(WATCHED).await, true);
    browser.click("#share").await;
    browser.until("window.said.includes('Copied')").await;
    let copied = browser.value("navigator.clipboard.readText()").await;
    let expected = format!("{}/?paused=yes&limit=3&at=0&play=0-burst", stage.playground.url());
    assert_eq!(copied, expected);
    stage.leave().await;
}
