//! Tests of `holder`.

use std::collections::HashMap;

use super::*;
use crate::{algorithm::Concurrency, key::Key, limit::Limit};

const KEYS: u64 = 200;

/// Redis takes so long for each call that the first keys are due again before it has renewed the last ones.
#[tokio::test(start_paused = true)]
async fn every_key_is_renewed_although_more_are_due_than_redis_renews() {
    let holder = NodeHolder::new(Arc::default());
    let limit = Limit::new("uploads", Concurrency::new(1));
    let executed = SlotAnswer::Executed { made_at: 1 };
    for key in 0..KEYS {
        let charge = Charge::new(limit.clone(), Key::named("user", key));
        let sender = holder.send_acquire(&charge);
        assert!(holder.answer(&charge, sender, executed, 1));
    }
    let mut renewals: HashMap<String, u64> = HashMap::new();
    for _ in 0..10 {
        tokio::time::advance(Duration::from_secs(10)).await;
        let (due, _) = holder.due(Instant::now());
        assert_eq!(due.len(), MAX_RENEWALS);
        for (charge, sender) in due {
            *renewals.entry(charge.key.to_string()).or_default() += 1;
            holder.renewed(&charge, sender, executed);
        }
    }
    assert_eq!(renewals.len() as u64, KEYS);
    // 640 renewals of 200 keys. Of those that are due at the same time, any may be the first.
    assert!(renewals.values().all(|count| (2..=5).contains(count)), "{renewals:?}");
}

/// Its answer may be read by a runtime that is not running.
#[tokio::test(start_paused = true)]
async fn a_renewal_without_an_answer_is_sent_again_when_the_next_one_is_due() {
    let holder = NodeHolder::new(Arc::default());
    let charge = Charge::new(Limit::new("uploads", Concurrency::new(1)), Key::GLOBAL);
    let sender = holder.send_acquire(&charge);
    assert!(holder.answer(&charge, sender, SlotAnswer::Executed { made_at: 1 }, 1));
    let mut renewals = Vec::new();
    for _ in 0..6 {
        tokio::time::advance(Duration::from_secs(5)).await;
        renewals.push(holder.due(Instant::now()).0.len());
    }
    assert_eq!(renewals, [0, 1, 0, 1, 0, 1]);
}
