//! The server restarts, and the scene resumes.

use support::browser::Browser;

use crate::playground::{
    model::DEFAULTS,
    page::{Page, in_one_browser},
    program::StoreKind,
};

in_one_browser! {
    a_paused_scene_resumes_after_a_server_restart,
    a_running_scene_resumes_after_a_server_restart,
    a_late_404_of_a_previous_scene_is_ignored,
}

const DISABLED: &str = "[...document.querySelectorAll('.presses button, .time button')].every(({ ariaDisabled }) => ariaDisabled === 'true')";
const ENABLED: &str = "[...document.querySelectorAll('.presses button, .time button')].every(({ ariaDisabled }) => ariaDisabled !== 'true')";

async fn a_paused_scene_resumes_after_a_server_restart(browser: &Browser) {
    for kind in StoreKind::BOTH {
        let mut page = Page::new(browser, kind);
        page.open("?paused=yes&at=9450&play=0-edge").await;
        let times = DEFAULTS.across_the_edge();
        let before = page.lanes_after(5).await;
        assert_eq!(before, DEFAULTS.lanes(&times[..5], 9_450_000));
        let (search, table, drawings) = (page.search().await, page.table().await, page.drawings().await);
        assert_eq!(browser.value(ENABLED).await, true);
        page.assert_console_is_empty().await;

        page.playground.kill();
        browser
            .until("document.getElementById('connection').dataset.state === 'lost'")
            .await;
        assert_eq!(page.text("#connection").await, "server unreachable: reconnecting");
        assert_eq!(browser.value(DISABLED).await, true);
        // The page keeps its last state.
        assert_eq!(page.lanes().await, before);

        page.playground.restart();
        browser
            .until("document.getElementById('connection').dataset.state === 'live'")
            .await;
        // Lanes keep their counts until the first frame; the table is cleared first, so its rows show that the frame has arrived.
        browser
            .until("document.querySelector('#requests tbody').children.length > 0")
            .await;
        assert_eq!(page.lanes_after(5).await, before);
        assert_eq!(page.text("#now").await, "9.45 s");
        assert_eq!(browser.value(ENABLED).await, true);
        assert_eq!((page.table().await, page.drawings().await), (table, drawings));
        assert_eq!(page.search().await, search);

        // The same scene, including its future requests.
        page.click_until("#next", 9500).await;
        assert_eq!(page.lanes_after(6).await, DEFAULTS.lanes(&times[..6], 9_500_000));
        for line in browser.console().await {
            // The browser's own message about an unreachable server.
            assert!(line.contains("/scene?") && line.contains("net::ERR_"), "{line}");
        }
        page.close().await;
    }
}

async fn a_running_scene_resumes_after_a_server_restart(browser: &Browser) {
    let mut page = Page::new(browser, StoreKind::Memory);
    // A scene that is not paused.
    page.open("?play=0-burst").await;
    page.lanes_after(20).await;
    page.playground.kill();
    browser
        .until("document.getElementById('connection').dataset.state === 'lost'")
        .await;
    let lost_at = page.text("#now").await;
    page.playground.restart();
    browser
        .until("document.getElementById('connection').dataset.state === 'live'")
        .await;
    // The scene does not start over.
    browser
        .until(&format!(
            "parseFloat(document.getElementById('now').textContent) > parseFloat('{lost_at}')"
        ))
        .await;
    assert_eq!(page.lanes().await[0].admitted, 10);
    // Discards the browser's messages about the unreachable server.
    browser.console().await;
    page.close().await;
}

async fn a_late_404_of_a_previous_scene_is_ignored(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    page.open("?paused=yes").await;
    // Delays the 404 of an ended scene until the test releases it.
    let late = "fetch = () => new Promise((answer) => {
        window.over = () => answer(new Response('this session has ended', { status: 404 }));
    })";
    let states =
        "new MutationObserver(() => (window.states ??= []).push(document.getElementById('connection').dataset.state))
        .observe(document.getElementById('connection'), { attributeFilter: ['data-state'] })";
    browser.value(late).await;
    browser.value(states).await;
    browser.click("#one").await;
    browser.until("'over' in window").await;
    browser.click("#restart").await;
    browser.until("window.states?.length === 2").await;
    browser.value("over()").await;
    assert_eq!(page.read::<Vec<String>>("states").await, ["connecting", "live"]);

    browser.value("delete window.over").await;
    browser.click("#one").await;
    browser.until("'over' in window").await;
    browser.value("over()").await;
    browser.until("states.length === 4").await;
    assert_eq!(page.read::<Vec<String>>("states.slice(2)").await, ["lost", "live"]);
    page.close().await;
}
