//! The server goes and comes back: the scene goes on from where it was.

use support::browser::Browser;

use crate::playground::{
    model::USUAL,
    program::Place,
    stage::{Stage, in_one_browser},
};

in_one_browser! {
    a_scene_goes_on_after_the_server_was_started_again,
    a_scene_whose_time_goes_by_goes_on_from_where_it_was,
    only_a_scene_that_is_over_is_lost,
}

const DISABLED: &str = "[...document.querySelectorAll('.presses button, .time button')].every(({ ariaDisabled }) => ariaDisabled === 'true')";
const ENABLED: &str = "[...document.querySelectorAll('.presses button, .time button')].every(({ ariaDisabled }) => ariaDisabled !== 'true')";

async fn a_scene_goes_on_after_the_server_was_started_again(browser: &Browser) {
    for place in Place::BOTH {
        let mut stage = Stage::new(browser, place);
        stage.open("?paused=yes&at=9450&play=0-edge").await;
        let times = USUAL.across_the_edge();
        let before = stage.lanes_after(5).await;
        assert_eq!(before, USUAL.seen(&times[..5], 9_450_000));
        let (search, table, drawings) = (stage.search().await, stage.table().await, stage.drawings().await);
        assert_eq!(browser.value(ENABLED).await, true);
        stage.no_complaints().await;

        stage.playground.kill();
        browser
            .until("document.getElementById('connection').dataset.state === 'lost'")
            .await;
        assert_eq!(stage.text("#connection").await, "the server is gone: trying again");
        assert_eq!(browser.value(DISABLED).await, true);
        // What was seen stays to be seen.
        assert_eq!(stage.lanes().await, before);

        stage.playground.restart();
        browser
            .until("document.getElementById('connection').dataset.state === 'live'")
            .await;
        // Lanes keep what they show until the first frame; the table begins anew, so that it tells when that has come.
        browser
            .until("document.querySelector('#requests tbody').children.length > 0")
            .await;
        assert_eq!(stage.lanes_after(5).await, before);
        assert_eq!(stage.text("#now").await, "9.45 s");
        assert_eq!(browser.value(ENABLED).await, true);
        assert_eq!((stage.table().await, stage.drawings().await), (table, drawings));
        assert_eq!(stage.search().await, search);

        // It is the same scene, with what is still to come of it.
        stage.click_to("#next", 9500).await;
        assert_eq!(stage.lanes_after(6).await, USUAL.seen(&times[..6], 9_500_000));
        for line in browser.console().await {
            // What the browser itself says of a server that is not there.
            assert!(line.contains("/scene?") && line.contains("net::ERR_"), "{line}");
        }
        stage.leave().await;
    }
}

async fn a_scene_whose_time_goes_by_goes_on_from_where_it_was(browser: &Browser) {
    let mut stage = Stage::new(browser, Place::Memory);
    // Time goes by here, and with the page.
    stage.open("?play=0-burst").await;
    stage.lanes_after(20).await;
    stage.playground.kill();
    browser
        .until("document.getElementById('connection').dataset.state === 'lost'")
        .await;
    let lost_at = stage.text("#now").await;
    stage.playground.restart();
    browser
        .until("document.getElementById('connection').dataset.state === 'live'")
        .await;
    // Nobody has to see the beginning again.
    browser
        .until(&format!(
            "parseFloat(document.getElementById('now').textContent) > parseFloat('{lost_at}')"
        ))
        .await;
    assert_eq!(stage.lanes().await[0].admitted, 10);
    // The browser has said that the server was gone.
    browser.console().await;
    stage.leave().await;
}

async fn only_a_scene_that_is_over_is_lost(browser: &Browser) {
    let stage = Stage::new(browser, Place::Memory);
    stage.open("?paused=yes").await;
    // Presses, and is answered that there is no such scene, as late as the test likes.
    let late = "fetch = () => new Promise((answer) => {
        window.over = () => answer(new Response('this scene is over', { status: 404 }));
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
    assert_eq!(stage.read::<Vec<String>>("states").await, ["connecting", "live"]);

    browser.value("delete window.over").await;
    browser.click("#one").await;
    browser.until("'over' in window").await;
    browser.value("over()").await;
    browser.until("states.length === 4").await;
    assert_eq!(stage.read::<Vec<String>>("states.slice(2)").await, ["lost", "live"]);
    stage.leave().await;
}
