//! Tests of `denial_cache`.

use super::*;
use crate::{
    algorithm::TokenBucket,
    key::Key,
    limit::Limit,
    quota::Quota,
    verdict::{Remaining, Verdict},
};

fn charge(user: usize) -> Charge {
    let limit = Limit::new("user", TokenBucket::new(Quota::per_day(1)));
    Charge::new(limit, Key::named("user", user))
}

fn deny(cache: &DenialCache, user: usize, retry_after: Duration) {
    let retry_after = retry_after.as_micros() as Micros;
    let verdict = Verdict {
        outcome: RawOutcome::Limited { retry_after },
        remaining: Remaining::from_reply(0),
        reset_after: retry_after,
    };
    let decision = Decision::of_one(0, TierDecision::new(charge(user), verdict));
    cache.insert(&decision, Instant::now(), Instant::now());
}

fn is_cached(cache: &DenialCache, user: usize) -> bool {
    cache.get(charge(user).into()).is_ok()
}

/// A denial in flight during the refund of a part is not cached for the refunded key.
#[tokio::test(start_paused = true)]
async fn a_part_refund_forgets_the_denials_of_its_keys() {
    let cache = DenialCache::default();
    let second = Duration::from_secs(1);
    [1, 2].into_iter().for_each(|user| deny(&cache, user, second));
    cache.forget([&charge(1), &charge(3)], Instant::now());
    assert_eq!([1, 2, 3].map(|user| is_cached(&cache, user)), [false, true, false]);
    [1, 3, 4].into_iter().for_each(|user| deny(&cache, user, second));
    assert_eq!([1, 3, 4].map(|user| is_cached(&cache, user)), [false, false, true]);
    tokio::time::advance(Duration::from_millis(1)).await;
    [1, 3].into_iter().for_each(|user| deny(&cache, user, second));
    assert_eq!([1, 3].map(|user| is_cached(&cache, user)), [true, true]);
}

#[tokio::test(start_paused = true)]
async fn the_keys_of_part_refunds_are_bounded() {
    let cache = DenialCache::default();
    let forget = |users: std::ops::Range<usize>| {
        let charges: Vec<Charge> = users.map(charge).collect();
        cache.forget(&charges, Instant::now());
    };
    let other = 10 * MAX_REFUNDED;
    forget(0..MAX_REFUNDED);
    // Refunds that no denial in flight can precede are dropped.
    tokio::time::advance(MAX_AGE).await;
    deny(&cache, other, MAX_AGE);
    forget(MAX_REFUNDED..2 * MAX_REFUNDED);
    assert_eq!(cache.state().refunded.len(), MAX_REFUNDED);
    assert!(is_cached(&cache, other));
    // If the keys do not fit, the whole cache is cleared.
    forget(0..1);
    assert_eq!(cache.state().refunded.len(), 0);
    assert!(!is_cached(&cache, other));
    deny(&cache, other, MAX_AGE);
    assert!(!is_cached(&cache, other));
}

#[tokio::test(start_paused = true)]
async fn a_full_cache_is_swept_at_most_ten_times_a_second() {
    let cache = DenialCache::default();
    for user in 0..MAX_DENIALS {
        deny(&cache, user, Duration::from_millis(if user == 0 { 10 } else { 5000 }));
    }
    let last = MAX_DENIALS - 1;
    for (elapsed, new_user, expected) in [
        (0, MAX_DENIALS, false),
        (99, MAX_DENIALS + 1, false),
        (1, MAX_DENIALS + 2, true),
    ] {
        tokio::time::advance(Duration::from_millis(elapsed)).await;
        deny(&cache, new_user, MAX_AGE);
        assert_eq!(is_cached(&cache, new_user), expected);
        assert!(is_cached(&cache, last) && cache.state().denials.len() == MAX_DENIALS);
    }
    // A denial expires after a second, even if its `retry_after` is longer.
    tokio::time::advance(Duration::from_millis(899)).await;
    assert!(is_cached(&cache, last));
    tokio::time::advance(Duration::from_millis(1)).await;
    assert!(!is_cached(&cache, last));
}
