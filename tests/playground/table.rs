//! The last requests as a table: a request a row, whatever became of it in each lane.

use support::browser::Browser;

use crate::playground::{
    model::{Fate, Terms, USUAL},
    program::Place,
    stage::Stage,
};

/// What the table has for these requests, newest first.
fn rows(terms: Terms, times: &[u64]) -> Vec<Vec<String>> {
    let fates = terms.fates(times);
    let row = |nth: usize| {
        let cells = fates.iter().map(|fates| match fates[nth] {
            Fate::Admitted => "admitted".to_owned(),
            Fate::Queued { leaves } => format!("queued, leaves at {:.2} s", leaves as f64 / 1e6),
            Fate::Refused => "refused".to_owned(),
        });
        let at = format!("{:.3} s", times[nth] as f64 / 1e6);
        [at].into_iter().chain(cells).collect()
    };
    (0..times.len()).rev().map(row).collect()
}

#[tokio::test]
async fn every_row_is_one_request() {
    let browser = Browser::start().await;
    let stage = Stage::new(&browser, Place::Memory);
    stage.open("?paused=yes&at=12000&play=0-edge").await;
    let times = USUAL.across_the_edge();
    stage.lanes_after(20).await;
    assert_eq!(stage.table().await, rows(USUAL, &times));

    // Those who came long ago are still there, also where they have left.
    let terms = Terms { capacity: 100, ..USUAL };
    stage
        .open("?paused=yes&capacity=100&at=24000&play=0-burst_24000-one")
        .await;
    stage.lanes_after(21).await;
    let mut times = vec![0; 20];
    times.push(24_000_000);
    assert_eq!(stage.table().await, rows(terms, &times));

    // A screenful is enough.
    stage.open("?paused=yes&burst=400&play=0-burst").await;
    stage.lanes_after(400).await;
    assert_eq!(stage.table().await, rows(USUAL, &[0; 400])[..30]);
    stage.leave().await;
}
