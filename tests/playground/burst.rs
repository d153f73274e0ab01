//! Requests that come at the same instant: what each lane does with them, exactly.

use support::browser::Browser;

use crate::playground::{
    model::{Fate, Terms, USUAL},
    program::Place,
    stage::{Stage, in_one_browser},
};

in_one_browser! {
    a_burst_takes_what_there_is_and_no_more,
    a_bucket_smaller_than_the_limit_and_one_larger,
}

async fn a_burst_takes_what_there_is_and_no_more(browser: &Browser) {
    for place in Place::BOTH {
        let stage = Stage::new(browser, place);
        stage.open("?paused=yes").await;
        browser.click("#burst").await;
        let seen = stage.lanes_after(20).await;
        let counts: Vec<_> = seen
            .iter()
            .map(|lane| (lane.admitted, lane.queued, lane.refused))
            .collect();
        assert_eq!(counts, [(10, 0, 10), (1, 9, 10), (10, 0, 10), (10, 0, 10), (10, 0, 10)]);
        assert_eq!(seen, USUAL.seen(&[0; 20], 0));
        assert_eq!(stage.text("#now").await, "0.00 s");
        // Nothing is left, of anything.
        browser.click("#one").await;
        assert_eq!(stage.lanes_after(21).await, USUAL.seen(&[0; 21], 0));
        assert_eq!(
            stage.text("#lane-token_bucket .said").await,
            "Refused: come back in 1.000 s"
        );
        assert_eq!(
            stage.text("#lane-fixed_window .said").await,
            "Refused: come back in 10.000 s"
        );
        stage.leave().await;
    }
}

async fn a_bucket_smaller_than_the_limit_and_one_larger(browser: &Browser) {
    for place in Place::BOTH {
        let stage = Stage::new(browser, place);
        for capacity in [3, 25] {
            stage
                .open(&format!("?paused=yes&capacity={capacity}&burst=30&play=0-burst"))
                .await;
            let terms = Terms { capacity, ..USUAL };
            let times = [0; 30];
            assert_eq!(stage.lanes_after(30).await, terms.seen(&times, 0));
            let queue = &terms.fates(&times)[1];
            assert_eq!(queue[1], Fate::Queued { leaves: 1_000_000 });
            // Much later all that waited have left, one in a second.
            stage
                .open(&format!(
                    "?paused=yes&capacity={capacity}&burst=30&at=24000&play=0-burst"
                ))
                .await;
            assert_eq!(stage.lanes_after(30).await, terms.seen(&times, 24_000_000));
        }
        stage.leave().await;
    }
}
