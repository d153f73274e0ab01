//! Requests at the same instant: the exact outcome in each lane.

use support::browser::Browser;

use crate::playground::{
    model::{DEFAULTS, Outcome, Settings},
    page::{Page, in_one_browser},
    program::StoreKind,
};

in_one_browser! {
    a_burst_is_admitted_up_to_the_quota,
    capacity_below_and_above_the_limit,
}

async fn a_burst_is_admitted_up_to_the_quota(browser: &Browser) {
    for kind in StoreKind::BOTH {
        let page = Page::new(browser, kind);
        page.open("?paused=yes").await;
        browser.click("#burst").await;
        let seen = page.lanes_after(20).await;
        let counts: Vec<_> = seen
            .iter()
            .map(|lane| (lane.admitted, lane.queued, lane.denied))
            .collect();
        let (all, queued) = ((10, 0, 10), (1, 9, 10));
        assert_eq!(counts, [all, queued, all, all, all, all]);
        assert_eq!(seen, DEFAULTS.lanes(&[0; 20], 0));
        assert_eq!(page.text("#now").await, "0.00 s");
        // Every lane is exhausted.
        browser.click("#one").await;
        assert_eq!(page.lanes_after(21).await, DEFAULTS.lanes(&[0; 21], 0));
        assert_eq!(page.text("#lane-token_bucket .said").await, "Denied: retry in 1.000 s");
        assert_eq!(page.text("#lane-fixed_window .said").await, "Denied: retry in 10.000 s");
        page.close().await;
    }
}

async fn capacity_below_and_above_the_limit(browser: &Browser) {
    for kind in StoreKind::BOTH {
        let page = Page::new(browser, kind);
        for capacity in [3, 25] {
            page.open(&format!("?paused=yes&capacity={capacity}&burst=30&play=0-burst"))
                .await;
            let settings = Settings { capacity, ..DEFAULTS };
            let times = [0; 30];
            assert_eq!(page.lanes_after(30).await, settings.lanes(&times, 0));
            let queue = &settings.outcomes(&times)[1];
            assert_eq!(queue[1], Outcome::Queued { released_at: 1_000_000 });
            // Later, the queue has released all of them, one per second.
            page.open(&format!(
                "?paused=yes&capacity={capacity}&burst=30&at=24000&play=0-burst"
            ))
            .await;
            assert_eq!(page.lanes_after(30).await, settings.lanes(&times, 24_000_000));
        }
        page.close().await;
    }
}
