//! When units are returned to Redis, on a clock that is paused.

use std::sync::{Mutex, Once};

use tokio::time::sleep;

use super::*;
use crate::{
    algorithm::{Algorithm, Mark, SlidingCounter, State},
    charge::Charge,
    decision::{Decision, TierDecision},
    key::Key,
    limit::Limit,
    quota::{Cost, Quota},
    store::redis::leases::LeaseAsk,
    time::Micros,
};

/// When a sub-window starts.
const AT: Micros = 1_700_000_000_000_000;
const UNITS: Cost = 10;

/// A key that is asked often enough to be leased.
struct HotKey {
    charge: Charge,
    mark: Mark,
    tier: TierDecision,
}

impl HotKey {
    fn new(leases: &Leases, name: &str, lease: Duration) -> Self {
        let limit = Limit::new(name, SlidingCounter::new(Quota::per_second(10_000))).lease(lease);
        let (verdict, mark) = limit.algorithm().acquire(&mut State::Fresh, AT, UNITS);
        let mark = mark.expect("it was admitted");
        let charge = Charge::new(limit, Key::new("key")).with_cost(UNITS);
        let tier = TierDecision::new(charge.clone(), verdict).with_mark(mark);
        (0..8).for_each(|_| leases.decided(&tier, AT, Instant::now()));
        assert!(leases.may_hold(&charge));
        Self { charge, mark, tier }
    }

    /// Leases units from now on.
    fn grant(&self, leases: &Leases) {
        let now = Instant::now();
        leases.granted(&self.charge, self.mark, now, leases.answer(&self.tier, AT, now));
    }
}

/// Unused units are returned in the middle of a lease's time, which is less an allowance for drift. Timers tick once per millisecond.
#[tokio::test(start_paused = true)]
async fn a_lease_granted_while_others_are_returned_is_returned_in_its_own_middle() {
    let (leases, start) = (Arc::new(Leases::new()), Instant::now());
    HotKey::new(&leases, "long", Duration::from_millis(100)).grant(&leases);
    let returned = Arc::<Mutex<Vec<_>>>::default();
    leases.start_returner({
        let (leases, returned, granted) = (Arc::clone(&leases), Arc::clone(&returned), Once::new());
        move |units| {
            granted.call_once(|| HotKey::new(&leases, "short", Duration::from_millis(10)).grant(&leases));
            let limit = units.charge.limit.name().to_owned();
            let after = start.elapsed().as_millis();
            returned.lock().expect("no test panics under it").push((limit, after));
        }
    });
    sleep(Duration::from_secs(2)).await;
    let returned = returned.lock().expect("no test panics under it");
    assert_eq!(*returned, [("long".to_owned(), 50), ("short".to_owned(), 55)]);
}

#[tokio::test(start_paused = true)]
async fn a_lease_whose_answer_comes_much_too_late_is_returned() {
    let leases = Arc::new(Leases::new());
    let key = HotKey::new(&leases, "late", Duration::from_millis(100));
    let mut ask = LeaseAsk::new(&leases, key.charge.clone());
    ask.mark_sent();
    let sent = Instant::now();
    let returned = Arc::<Mutex<Vec<_>>>::default();
    leases.start_returner({
        let returned = Arc::clone(&returned);
        move |units| {
            returned
                .lock()
                .expect("no test panics under it")
                .push(units.charge.cost)
        }
    });
    sleep(Duration::from_secs(30)).await;
    let tier = key.tier.clone().with_mark(key.mark);
    ask.answer(&Decision::from_tiers(AT, [tier]), sent, Instant::now());
    sleep(Duration::from_millis(1)).await;
    assert_eq!(*returned.lock().expect("no test panics under it"), [UNITS]);
}
