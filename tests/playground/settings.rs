//! Settings: each change starts a new scene, or shows an error.

use fantoccini::{Locator, key::Key};

use support::browser::Browser;

use crate::playground::{
    model::{DEFAULTS, Settings},
    page::{Page, in_one_browser},
    program::StoreKind,
};

in_one_browser! {
    a_setting_starts_a_new_scene_and_back_restores_the_previous,
    invalid_settings_are_named_until_corrected,
    a_scene_has_at_most_a_hundred_actions,
}

/// Replaces the value of a field, moves the focus, and waits until the page has applied it.
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
    let applied = format!("new URLSearchParams(location.search).get(document.getElementById('{field}').name) ?? ''");
    browser.until(&format!("({applied}) === '{value}'")).await;
}

async fn assert_error(page: &Page<'_>, message: &str, invalid: &[&str]) {
    page.browser
        .until("document.getElementById('connection').dataset.state === 'wrong'")
        .await;
    assert_eq!(page.text("#wrong").await, message);
    assert_eq!(
        page.browser
            .value("document.getElementById('wrong').checkVisibility()")
            .await,
        true
    );
    assert_eq!(page.text("#connection").await, "not started");
    let marked: Vec<String> = page
        .read("[...document.querySelectorAll('[aria-invalid=true]')].map(({ id }) => id)")
        .await;
    assert_eq!(marked, invalid);
}

async fn assert_live(page: &Page<'_>, search: &str) {
    let is_live =
        format!("document.getElementById('connection').dataset.state === 'live' && location.search === '{search}'");
    page.browser.until(&is_live).await;
    assert_eq!(
        page.browser
            .value("document.getElementById('wrong').checkVisibility()")
            .await,
        false
    );
    assert_eq!(
        page.browser
            .value("document.querySelector('[aria-invalid=true]')")
            .await,
        serde_json::Value::Null
    );
}

async fn a_setting_starts_a_new_scene_and_back_restores_the_previous(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    page.open("?paused=yes").await;
    browser.click("#burst").await;
    page.lanes_after(20).await;
    page.click_until("#step", 100).await;

    set(browser, "limit", "4").await;
    assert_live(&page, "?paused=yes&limit=4&at=0").await;
    assert_eq!(page.lanes_after(0).await, DEFAULTS.lanes(&[], 0));
    assert_eq!(
        page.browser
            .value("document.getElementById('timeline').ariaLabel")
            .await,
        "No requests yet."
    );
    // Settings without a value follow the limit.
    let fields: Vec<String> = page
        .read("['capacity', 'size'].map((id) => document.getElementById(id).value)")
        .await;
    assert_eq!(fields, ["4", "8"]);
    assert_eq!(page.text("#burst-size").await, "8");
    set(browser, "window", "2").await;
    assert_live(&page, "?paused=yes&limit=4&window=2&at=0").await;
    set(browser, "capacity", "3").await;
    assert_live(&page, "?paused=yes&limit=4&window=2&capacity=3&at=0").await;
    set(browser, "size", "5").await;
    assert_live(&page, "?paused=yes&limit=4&window=2&capacity=3&burst=5&at=0").await;
    browser.click("#burst").await;
    let settings = Settings {
        limit: 4,
        window: 2_000_000,
        capacity: 3,
        ..DEFAULTS
    };
    assert_eq!(page.lanes_after(5).await, settings.lanes(&[0; 5], 0));
    page.click_until("#step", 20).await;

    // An empty field means the default.
    set(browser, "capacity", "").await;
    assert_live(&page, "?paused=yes&limit=4&window=2&burst=5&at=0").await;
    for _ in 0..5 {
        browser.client.back().await.unwrap();
    }
    assert_live(&page, "?paused=yes&at=100&play=0-burst").await;
    assert_eq!(page.lanes_after(20).await, DEFAULTS.lanes(&[0; 20], 100_000));
    assert_eq!(page.browser.value("document.getElementById('limit').value").await, "10");

    // Starting over keeps the settings and drops the actions.
    browser.click("#restart").await;
    assert_live(&page, "?paused=yes&at=0").await;
    assert_eq!(page.lanes_after(0).await, DEFAULTS.lanes(&[], 0));
    page.close().await;
}

async fn invalid_settings_are_named_until_corrected(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    page.open("?paused=yes").await;
    set(browser, "limit", "0").await;
    assert_error(&page, "Limit: must be a whole number from 1 to 200.", &["limit"]).await;
    assert_eq!(browser.value("document.getElementById('limit').value").await, "0");
    set(browser, "rate", "1.5").await;
    let both = "Limit: must be a whole number from 1 to 200. Stream (per s): must be a whole number from 1 to 100.";
    assert_error(&page, both, &["limit", "rate"]).await;
    // A corrected field is no longer marked, though another is still invalid.
    set(browser, "limit", "5").await;
    assert_error(
        &page,
        "Stream (per s): must be a whole number from 1 to 100.",
        &["rate"],
    )
    .await;
    set(browser, "rate", "3").await;
    assert_live(&page, "?paused=yes&limit=5&rate=3&at=0").await;

    for lease in ["60001", "0.5", "-1"] {
        set(browser, "lease", lease).await;
        assert_error(&page, "Lease (ms): must be a whole number from 0 to 60000.", &["lease"]).await;
    }
    set(browser, "lease", "").await;
    assert_live(&page, "?paused=yes&limit=5&rate=3&at=0").await;

    set(browser, "sub_windows", "7").await;
    assert_error(
        &page,
        "Sub-windows: must divide the window evenly: use 5 or 8.",
        &["sub_windows"],
    )
    .await;
    browser.client.back().await.unwrap();
    assert_live(&page, "?paused=yes&limit=5&rate=3&at=0").await;

    // Starting over drops invalid parameters that have no field.
    browser
        .open(&format!(
            "{}/?paused=yes&speed=7&at=x&play=0-sneeze",
            page.playground.url()
        ))
        .await;
    let errors = "at: must be a number of milliseconds. play: must be up to 100 actions in order of time, like 0-one_3200-burst: \
        milliseconds, then one, burst, stream, stop, edge or overload. speed: must be 0.1, 0.25, 0.5, 1 or 4.";
    assert_error(&page, errors, &[]).await;
    browser.click("#restart").await;
    assert_live(&page, "?paused=yes&at=0").await;
    page.close().await;
}

async fn a_scene_has_at_most_a_hundred_actions(browser: &Browser) {
    let page = Page::new(browser, StoreKind::Memory);
    let play = vec!["0-one"; 97].join("_");
    page.open(&format!("?paused=yes&play={play}_0-stream")).await;
    page.lanes_after(98).await;
    browser.click("#one").await;
    page.lanes_after(99).await;
    assert_eq!(
        browser
            .value("document.getElementById('trouble').checkVisibility()")
            .await,
        false
    );
    browser.click("#one").await;
    browser
        .until("document.getElementById('trouble').textContent === 'This session is full: start over.'")
        .await;
    page.lanes_after(99).await;
    // At the maximum, the stream can still be stopped, and nothing else is accepted.
    browser.click("#stream").await;
    browser
        .until("document.getElementById('stream').ariaPressed === 'false'")
        .await;
    let search = page.search().await;
    assert!(search.contains("_0-stream_0-one_0-stop"), "{search}");
    page.open(&search).await;
    page.lanes_after(99).await;
    page.close().await;
}
