//! A scene's URL reproduces the scene.

use serde_json::json;

use support::browser::Browser;

use crate::playground::{
    model::DEFAULTS,
    page::{Page, in_one_browser},
    program::StoreKind,
};

in_one_browser! {
    a_scene_played_by_hand_is_reproduced_in_another_window,
    the_link_is_copied,
    requests_at_the_time_of_an_action_replay_before_it,
}

async fn a_scene_played_by_hand_is_reproduced_in_another_window(browser: &Browser) {
    for kind in StoreKind::BOTH {
        let page = Page::new(browser, kind);
        page.open("?paused=yes&burst=6").await;
        browser.click("#burst").await;
        page.lanes_after(6).await;
        for step in 1..=3 {
            page.click_until("#step", step * 100).await;
        }
        browser.click("#one").await;
        page.lanes_after(7).await;
        page.click_until("#step", 400).await;
        // The scene jumps to 1.5 s before the edge, to show the coming requests.
        page.click_until("#edge", 8500).await;
        for at in [9000, 9100, 9200] {
            page.click_until("#next", at).await;
        }
        browser.click("#burst").await;
        page.lanes_after(16).await;
        page.click_until("#step", 9300).await;

        let mut times = vec![0; 6];
        times.extend([300_000, 9_000_000, 9_100_000, 9_200_000]);
        times.extend([9_200_000; 6]);
        times.push(9_300_000);
        let seen = page.lanes_after(17).await;
        assert_eq!(seen, DEFAULTS.lanes(&times, 9_300_000));
        let search = page.search().await;
        let expected = "?paused=yes&burst=6&at=9300&play=0-burst_300-one_400-edge_9200-burst";
        assert_eq!(search, expected);
        let (table, drawings) = (page.table().await, page.drawings().await);
        assert_eq!(table.len(), 17);

        let first = browser.client.window().await.unwrap();
        let window = browser.client.new_window(false).await.unwrap();
        browser.client.switch_to_window(window.handle).await.unwrap();
        page.open(&search).await;
        assert_eq!(page.lanes().await, seen);
        assert_eq!(page.table().await, table);
        assert_eq!(page.drawings().await, drawings);
        assert_eq!(page.text("#now").await, "9.30 s");
        assert_eq!(page.search().await, search);

        // Future requests are the same. Actions in this window do not affect the first.
        for (arrived, at) in (18..).zip([9400, 9500]) {
            page.click_until("#next", at).await;
            times.push(u64::from(at) * 1000);
            assert_eq!(
                page.lanes_after(arrived).await,
                DEFAULTS.lanes(&times, u64::from(at) * 1000)
            );
        }
        page.assert_console_is_empty().await;
        browser.client.close_window().await.unwrap();
        browser.client.switch_to_window(first).await.unwrap();
        assert_eq!(page.lanes().await, seen);
        page.close().await;
    }
}

/// The user has seen the requests of that instant, so a replay sends them before the action.
async fn requests_at_the_time_of_an_action_replay_before_it(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    page.open("?paused=yes").await;
    browser.click("#stream").await;
    page.lanes_after(1).await;
    for at in [500, 1000] {
        page.click_until("#next", at).await;
    }
    page.lanes_after(3).await;
    browser.click("#stream").await;
    browser
        .until("location.search.endsWith('play=0-stream_1000-stop')")
        .await;
    page.click_until("#step", 1100).await;
    let (seen, table) = (page.lanes_after(3).await, page.table().await);
    page.open(&page.search().await).await;
    assert_eq!((page.lanes_after(3).await, page.table().await), (seen, table));

    page.open("?paused=yes&play=0-stream_0-stop_0-stream").await;
    page.lanes_after(2).await;
    page.close().await;
}

async fn the_link_is_copied(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    page.open("?paused=yes&limit=3").await;
    browser.click("#burst").await;
    page.lanes_after(6).await;
    let permissions = json!({"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]});
    browser.devtools("Browser.grantPermissions", permissions).await;
    // The label changes for two seconds only, so the test records it.
    const RECORD_LABELS: &str = "(() => {
        const share = document.getElementById('share');
        window.labels = [];
        const watch = new MutationObserver(() => window.labels.push(share.textContent));
        watch.observe(share, { childList: true, characterData: true, subtree: true });
        return true;
    })()";
    assert_eq!(browser.value(RECORD_LABELS).await, true);
    browser.click("#share").await;
    browser.until("window.labels.includes('Copied')").await;
    let copied = browser.value("navigator.clipboard.readText()").await;
    let expected = format!("{}/?paused=yes&limit=3&at=0&play=0-burst", page.playground.url());
    assert_eq!(copied, expected);
    page.close().await;
}
