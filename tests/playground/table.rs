//! The table of the last requests: a row per request, with its outcome in each lane.

use support::browser::Browser;

use crate::playground::{
    model::{DEFAULTS, Outcome, Settings},
    page::Page,
    program::StoreKind,
};

/// The rows for these requests, newest first.
fn rows(settings: Settings, times: &[u64]) -> Vec<Vec<String>> {
    let outcomes = settings.outcomes(times);
    let row = |nth: usize| {
        let cells = outcomes.iter().map(|outcomes| match outcomes[nth] {
            Outcome::Admitted => "admitted".to_owned(),
            Outcome::Queued { released_at } => format!("queued, leaves at {:.2} s", released_at as f64 / 1e6),
            Outcome::Denied => "denied".to_owned(),
        });
        let at = format!("{:.3} s", times[nth] as f64 / 1e6);
        [at].into_iter().chain(cells).collect()
    };
    (0..times.len()).rev().map(row).collect()
}

#[tokio::test]
async fn the_table_has_a_row_per_request() {
    let browser = Browser::start().await;
    let page = Page::new(&browser, StoreKind::Memory);
    page.open("?paused=yes&at=12000&play=0-edge").await;
    let times = DEFAULTS.across_the_edge();
    page.lanes_after(20).await;
    assert_eq!(page.table().await, rows(DEFAULTS, &times));

    // Old requests stay in the table, also after the queue has released them.
    let settings = Settings {
        capacity: 100,
        ..DEFAULTS
    };
    page.open("?paused=yes&capacity=100&at=24000&play=0-burst_24000-one")
        .await;
    page.lanes_after(21).await;
    let mut times = vec![0; 20];
    times.push(24_000_000);
    assert_eq!(page.table().await, rows(settings, &times));

    // The table has at most 30 rows.
    page.open("?paused=yes&burst=400&play=0-burst").await;
    page.lanes_after(400).await;
    assert_eq!(page.table().await, rows(DEFAULTS, &[0; 400])[..30]);
    page.close().await;
}
