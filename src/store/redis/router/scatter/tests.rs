//! Tests of `scatter`.

use std::{
    future::{pending, ready},
    pin::Pin,
    sync::Mutex,
    task::{Context, Waker},
};

use super::*;
use crate::{
    algorithm::{Algorithm, Concurrency, State, TokenBucket},
    key::Key,
    limit::Limit,
    quota::Quota,
    verdict::{RawOutcome, Remaining, Verdict},
};

/// The parts of a request with one charge per slot.
fn parts(responses: Vec<Response>) -> Vec<SlotPart<Response>> {
    let parts = Slot::all().zip(responses).enumerate();
    parts
        .map(|(position, (slot, payload))| SlotPart {
            slot,
            positions: vec![position],
            payload,
        })
        .collect()
}

fn charges<const N: usize>(fails_open: [bool; N]) -> Charges {
    let limit = Limit::new("limit", TokenBucket::new(Quota::per_second(1)));
    Charges::from_distinct(fails_open.into_iter().enumerate().map(|(number, fails_open)| Charge {
        fails_open,
        ..Charge::new(limit.clone(), Key::named("user", number))
    }))
}

fn response(charges: &Charges, position: usize, outcome: RawOutcome) -> Response {
    let verdict = Verdict {
        outcome,
        remaining: Remaining::from_reply(0),
        reset_after: 1,
    };
    let tier = TierDecision::new(charges.as_slice()[position].clone(), verdict);
    Ok(Decision::of_one(7, tier))
}

fn timeout(sent: bool) -> StoreError {
    StoreError::timeout(&"127.0.0.1:6379".into(), std::time::Duration::from_secs(1), sent)
}

fn merged(responses: Vec<Response>, charges: &Charges) -> Response {
    merge(parts(responses), Some(charges), Instant::now())
}

#[test]
fn an_error_after_which_a_charge_is_in_doubt_is_reported_first() {
    let errors = |sent: &[bool]| sent.iter().map(|sent| Err(timeout(*sent))).collect();
    let all = charges([true; 3]);
    for (sent, expected) in [
        ([false, false, false], false),
        ([false, true, false], true),
        ([true, false, false], true),
        ([false, false, true], true),
    ] {
        let error = merged(errors(&sent), &all).unwrap_err();
        assert_eq!(error.may_have_charged(), expected, "{sent:?}");
    }
}

#[test]
fn the_others_decide_if_every_charge_that_failed_fails_open() {
    let admitted = RawOutcome::Admitted { delay: 0 };
    let limited = RawOutcome::Limited { retry_after: 1 };
    for (fails_open, outcome, expected) in [
        ([false, true], admitted, Some(true)),
        ([true, false], admitted, None),
        ([true, true], limited, Some(false)),
        ([false, false], limited, Some(false)),
    ] {
        let charges = charges(fails_open);
        let merged = merged(vec![response(&charges, 0, outcome), Err(timeout(true))], &charges);
        assert_eq!(merged.as_ref().ok().map(Decision::admits), expected, "{fails_open:?}");
        if let Ok(decision) = merged {
            let unchecked = decision.unchecked_tiers().unwrap();
            assert_eq!(unchecked.charges.as_slice()[0].key, Key::named("user", 1));
            assert!(decision.charges().is_none());
        }
    }
}

/// A refund that failed in one slot has failed.
#[test]
fn a_correction_fails_if_one_part_fails() {
    let charges = charges([true; 2]);
    let responses = vec![
        response(&charges, 0, RawOutcome::Admitted { delay: 0 }),
        Err(timeout(true)),
    ];
    assert!(merge(parts(responses), None, Instant::now()).is_err());
}

/// Otherwise the slot would be held, and renewed, until the process ends.
#[test]
fn a_slot_is_released_if_the_request_ends_before_another_part_responds() {
    let slot = Charge::new(Limit::new("slots", Concurrency::new(1)), Key::GLOBAL);
    let (verdict, mark) = slot.limit.algorithm().acquire(&mut State::Fresh, 0, 1);
    let tier = TierDecision::new(slot.clone(), verdict).with_mark(mark.unwrap());
    let decision = Decision::from_tiers(0, [tier]);
    let (decision, released) = (Mutex::new(Some(decision)), Mutex::new(Vec::new()));
    let submit = |_, _, _| -> Pin<Box<dyn Future<Output = Response>>> {
        match decision.lock().unwrap().take() {
            Some(decision) => Box::pin(ready(Ok(decision))),
            None => Box::pin(pending()),
        }
    };
    let release = |receipt: Receipt| released.lock().unwrap().extend(receipt.into_charged());
    let parts = parts(vec![Ok(Decision::exempt(0)), Ok(Decision::exempt(0))]);
    let parts = parts.into_iter().map(|part| part.map(|_| Operation::nothing()));
    let mut gathered = Box::pin(gather(parts.collect(), Instant::now(), &submit, &release));
    let context = &mut Context::from_waker(Waker::noop());
    assert!(gathered.as_mut().poll(context).is_pending());
    drop(gathered);
    let released = released.into_inner().unwrap();
    assert_eq!(released.len(), 1);
    assert_eq!(released[0].charge.limit, slot.limit);
}

/// Another node may have returned units between the charge and its refund.
#[test]
fn a_refund_gives_back_only_its_own_units_of_a_limit_with_leases() {
    let bucket = Limit::new("bucket", TokenBucket::new(Quota::per_second(100)));
    for (limit, expected) in [
        (bucket.clone(), 7),
        (bucket.lease(std::time::Duration::from_millis(100)), 2),
    ] {
        let algorithm = *limit.algorithm();
        let mut state = State::Fresh;
        assert!(algorithm.acquire(&mut state, 0, 5).1.is_some());
        let (verdict, mark) = algorithm.acquire(&mut state, 0, 2);
        let mark = mark.unwrap();
        let tier = TierDecision::new(Charge::new(limit, Key::GLOBAL).with_cost(2), verdict).with_mark(mark);
        let parts = &mut parts(vec![Ok(Decision::from_tiers(0, [tier]))]);
        let Operation::Refund(receipt) = refunds(parts).remove(0).payload else {
            panic!("it is a refund");
        };
        let positions: Vec<_> = receipt.into_charged().map(|charged| charged.mark.position).collect();
        assert_eq!(positions, [expected * mark.unit()]);
    }
}
