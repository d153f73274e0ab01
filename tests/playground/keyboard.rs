//! The page by keyboard alone.

use fantoccini::key::Key;

use support::browser::Browser;

use crate::playground::{
    page::{Page, in_one_browser},
    program::StoreKind,
};

in_one_browser! {
    tab_reaches_every_control_with_a_visible_focus,
    every_control_has_a_key,
}

/// The tab order.
const TAB_ORDER: [&str; 39] = [
    "Skip to the lanes",
    "Twenty in two seconds",
    "The same, slowly",
    "With five sub-windows",
    "A burst, and another",
    "Twice the limit, steadily",
    "Overload",
    "A small bucket",
    "Slow requests",
    "Two nodes with a lease",
    "#one",
    "#burst",
    "#stream",
    "#edge",
    "#overload",
    "#pause",
    "#step",
    "#next",
    "#speed",
    "#limit",
    "#window",
    "#capacity",
    "#sub_windows",
    "#lease",
    "#duration",
    "#size",
    "#rate",
    "#restart",
    "#share",
    "#keys",
    "Last response",
    "Last response",
    "Last response",
    "Last response",
    "Last response",
    "Last response",
    "The last requests as a table",
    "two nodes with a lease",
    "",
];

async fn tab_reaches_every_control_with_a_visible_focus(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    page.open("?paused=yes").await;
    page.assert_tab_order(&TAB_ORDER).await;
    page.close().await;
}

async fn every_control_has_a_key(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    page.open("?paused=yes").await;
    browser.press(['1']).await;
    page.lanes_after(1).await;
    browser.press(['b']).await;
    page.lanes_after(21).await;
    browser.press(['.']).await;
    page.wait_for_time(100).await;
    browser.press(['e']).await;
    page.wait_for_time(8500).await;
    browser.press(['n']).await;
    page.wait_for_time(9000).await;
    page.lanes_after(22).await;
    browser.press(['s']).await;
    page.lanes_after(23).await;
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
    browser.press(['o']).await;
    browser.until("location.search.includes('-overload')").await;
    browser.press(['r']).await;
    browser.until("location.search === '?paused=yes&at=0'").await;
    page.lanes_after(0).await;

    // Enter and the space bar activate the focused control.
    browser.value("document.getElementById('one').focus()").await;
    browser.press([Key::Enter]).await;
    page.lanes_after(1).await;
    browser.press([' ']).await;
    page.lanes_after(2).await;
    browser
        .value("document.querySelector('#requests summary').focus()")
        .await;
    browser.press([Key::Enter]).await;
    browser
        .until("document.querySelector('#requests tbody').children.length === 2")
        .await;

    // Keys typed into a field and browser shortcuts send no requests.
    browser.value("document.getElementById('rate').select()").await;
    browser.press(['1']).await;
    browser.press(['b']).await;
    browser.until("document.getElementById('rate').value === '1'").await;
    browser.value("document.getElementById('one').focus()").await;
    browser
        .until("document.getElementById('connection').dataset.state === 'live' && location.search.includes('rate=1')")
        .await;
    page.lanes_after(0).await;
    browser.press([char::from(Key::Control), 'b']).await;
    browser.press(['1']).await;
    page.lanes_after(1).await;
    page.close().await;
}
