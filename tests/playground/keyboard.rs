//! The page without a pointer.

use fantoccini::key::Key;

use support::browser::Browser;

use crate::playground::{
    program::Place,
    stage::{Stage, in_one_browser},
};

in_one_browser! {
    tab_comes_to_everything_and_is_seen_there,
    all_is_pressed_by_keys,
}

/// What Tab comes to, in this order.
const ORDER: [&str; 31] = [
    "Skip to the lanes",
    "Twenty in two seconds",
    "The same, slowly",
    "With five sub-windows",
    "A burst, and another",
    "Twice too many, steadily",
    "A small bucket",
    "#one",
    "#burst",
    "#stream",
    "#edge",
    "#pause",
    "#step",
    "#next",
    "#speed",
    "#limit",
    "#window",
    "#capacity",
    "#buckets",
    "#size",
    "#rate",
    "#restart",
    "#share",
    "#keys",
    "Its last answer",
    "Its last answer",
    "Its last answer",
    "Its last answer",
    "Its last answer",
    "The last requests as a table",
    "",
];

async fn tab_comes_to_everything_and_is_seen_there(browser: &Browser) {
    let stage = Stage::new(browser, Place::Memory);
    stage.open("?paused=yes").await;
    for expected in ORDER {
        browser.press([Key::Tab]).await;
        let focused = "(({ id, tagName, textContent }) => tagName === 'BODY' ? '' : id ? `#${id}` : textContent)
            (document.activeElement)";
        browser.until(&format!("{focused} === '{expected}'")).await;
        if !expected.is_empty() {
            let seen = "document.activeElement.matches(':focus-visible')
                && parseFloat(getComputedStyle(document.activeElement).outlineWidth) >= 2
                && document.activeElement.checkVisibility()";
            assert_eq!(browser.value(seen).await, true, "{expected}");
        }
    }
    stage.leave().await;
}

async fn all_is_pressed_by_keys(browser: &Browser) {
    let stage = Stage::new(browser, Place::Memory);
    stage.open("?paused=yes").await;
    browser.press(['1']).await;
    stage.lanes_after(1).await;
    browser.press(['b']).await;
    stage.lanes_after(21).await;
    browser.press(['.']).await;
    stage.stands_at(100).await;
    browser.press(['e']).await;
    stage.stands_at(8500).await;
    browser.press(['n']).await;
    stage.stands_at(9000).await;
    stage.lanes_after(22).await;
    browser.press(['s']).await;
    stage.lanes_after(23).await;
    assert_eq!(
        browser.value("document.getElementById('stream').ariaPressed").await,
        "true"
    );
    browser.press(['s']).await;
    browser
        .until("document.getElementById('stream').ariaPressed === 'false'")
        .await;
    browser.press(['p']).await;
    browser
        .until("document.getElementById('pause').ariaPressed === 'false'")
        .await;
    browser.press(['p']).await;
    browser
        .until("document.getElementById('pause').ariaPressed === 'true'")
        .await;
    browser.press(['r']).await;
    browser.until("location.search === '?paused=yes&at=0'").await;
    stage.lanes_after(0).await;

    // Where the focus is, Enter and the space bar press.
    browser.value("document.getElementById('one').focus()").await;
    browser.press([Key::Enter]).await;
    stage.lanes_after(1).await;
    browser.press([' ']).await;
    stage.lanes_after(2).await;
    browser
        .value("document.querySelector('#requests summary').focus()")
        .await;
    browser.press([Key::Enter]).await;
    browser
        .until("document.querySelector('#requests tbody').children.length === 2")
        .await;

    // Whoever writes a number does not press for requests, nor does a shortcut of the browser's.
    browser.value("document.getElementById('rate').select()").await;
    browser.press(['1']).await;
    browser.press(['b']).await;
    browser.until("document.getElementById('rate').value === '1'").await;
    browser.value("document.getElementById('one').focus()").await;
    browser
        .until("document.getElementById('connection').dataset.state === 'live' && location.search.includes('rate=1')")
        .await;
    stage.lanes_after(0).await;
    browser.press([char::from(Key::Control), 'b']).await;
    browser.press(['1']).await;
    stage.lanes_after(1).await;
    stage.leave().await;
}
