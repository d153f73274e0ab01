//! Scatter-gather for requests whose keys are in several slots of a cluster.
//!
//! No script can charge several slots atomically. So each slot is charged in parallel, and if one denies, the charges of the
//! others are refunded. A limit is never exceeded; but until a charge is refunded it may cause denials of other requests, and
//! if the refund is lost, until it expires.

use std::{future::poll_fn, pin::Pin, sync::Arc, task::Poll};

use tokio::{
    sync::oneshot,
    time::{Instant, timeout_at},
};

use super::{awaited::Awaited, queue::Answer, send, shared::Shared};
use crate::{
    charge::{Charge, Charges},
    decision::{Decision, TierDecision},
    operation::Operation,
    receipt::Receipt,
    store::redis::servers::Slot,
};

/// The tiers of one slot, with their positions in the request.
struct Part<T> {
    slot: Slot,
    places: Vec<usize>,
    about: T,
}

/// Submits an operation, in one part per slot.
pub(crate) fn submit(shared: &Arc<Shared>, operation: Operation, until: Instant) -> Awaited {
    let (sender, answer) = oneshot::channel();
    let applied = apply(Arc::clone(shared), operation, until, sender);
    Awaited::new(shared, Some(Box::pin(applied)), answer)
}

/// Applies an operation in one part per slot, and answers. It is completed even if the request is cancelled, since charges may
/// have to be refunded.
async fn apply(shared: Arc<Shared>, operation: Operation, until: Instant, answer: oneshot::Sender<Answer>) {
    let sent = Instant::now();
    let acquires = matches!(operation, Operation::Acquire(_));
    let mut answers = ask(&shared, split(&shared, operation), until).await;
    let admitted = answers
        .iter()
        .all(|part| part.about.as_ref().is_ok_and(Decision::admits));
    let mut late = None;
    if acquires && !admitted {
        let mut refunds = Box::pin(ask(&shared, refunds(&mut answers), Instant::now() + shared.deadline));
        match timeout_at(until, &mut refunds).await {
            Ok(refunded) => refresh_verdicts(&mut answers, refunded),
            Err(_) => late = Some(refunds),
        }
    }
    let decided = merge(answers);
    if let Some(denied) = &shared.denied {
        match &decided {
            Ok(decision) if acquires => denied.remember(decision, sent, Instant::now()),
            _ if !acquires => denied.forget(Instant::now()),
            _ => {}
        }
    }
    _ = answer.send(decided);
    if let Some(refunds) = late {
        refunds.await;
    }
}

impl<T> Part<T> {
    fn map<U>(self, map: impl FnOnce(T) -> U) -> Part<U> {
        Part {
            slot: self.slot,
            places: self.places,
            about: map(self.about),
        }
    }
}

/// Sends all parts in parallel.
async fn ask(shared: &Arc<Shared>, parts: Vec<Part<Operation>>, until: Instant) -> Vec<Part<Answer>> {
    let decide = |part: Part<Operation>| {
        let slot = part.slot;
        part.map(|operation| send::submit_part(shared, slot, operation, until))
    };
    let mut asked: Vec<_> = parts.into_iter().map(decide).collect();
    let mut answers: Vec<Option<Answer>> = asked.iter().map(|_| None).collect();
    poll_fn(|context| {
        for (part, answer) in asked
            .iter_mut()
            .zip(&mut answers)
            .filter(|(_, answer)| answer.is_none())
        {
            if let Poll::Ready(ready) = Pin::new(&mut part.about).poll(context) {
                *answer = Some(ready);
            }
        }
        match answers.iter().all(Option::is_some) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    let answered = asked.into_iter().zip(answers.into_iter().flatten());
    answered.map(|(part, answer)| part.map(|_| answer)).collect()
}

/// Splits an operation into one part per slot.
fn split(shared: &Shared, operation: Operation) -> Vec<Part<Operation>> {
    let slot = |charge: &Charge| shared.slot(charge);
    match operation {
        Operation::Acquire(charges) => by_slot(charges.into_each(), slot, |part| {
            Operation::Acquire(Charges::from_distinct(part))
        }),
        Operation::Reset(charges) => by_slot(charges.into_each(), slot, |part| {
            Operation::Reset(Charges::from_distinct(part))
        }),
        Operation::Refund(receipt) => by_slot(
            receipt.into_charged(),
            |charged| slot(&charged.charge),
            |part| Operation::Refund(Receipt::from_charged(part)),
        ),
        Operation::Settle(receipt) => by_slot(
            receipt.into_charged(),
            |charged| slot(&charged.charge),
            |part| Operation::Settle(Receipt::from_charged(part)),
        ),
    }
}

fn by_slot<T>(
    tiers: impl Iterator<Item = T>,
    slot: impl Fn(&T) -> Slot,
    operation: impl Fn(Vec<T>) -> Operation,
) -> Vec<Part<Operation>> {
    let mut parts: Vec<Part<Vec<T>>> = Vec::new();
    for (place, tier) in tiers.enumerate() {
        let slot = slot(&tier);
        match parts.iter_mut().find(|part| part.slot == slot) {
            Some(part) => {
                part.places.push(place);
                part.about.push(tier);
            }
            None => parts.push(Part {
                slot,
                places: vec![place],
                about: vec![tier],
            }),
        }
    }
    parts.into_iter().map(|part| part.map(&operation)).collect()
}

/// The refunds of all charges that were taken.
fn refunds(answers: &mut [Part<Answer>]) -> Vec<Part<Operation>> {
    let refund = |part: &mut Part<Answer>| {
        let decision = part.about.as_mut().ok()?;
        let taken = decision
            .tiers()
            .iter()
            .zip(&part.places)
            .filter(|(tier, _)| tier.mark.is_some());
        let places = taken.map(|(_, place)| *place).collect();
        let about = Operation::Refund(decision.take_receipt()?);
        Some(Part {
            slot: part.slot,
            places,
            about,
        })
    };
    answers.iter_mut().filter_map(refund).collect()
}

/// Replaces the verdicts of tiers that were charged by those after their refund.
fn refresh_verdicts(answers: &mut [Part<Answer>], refunded: Vec<Part<Answer>>) {
    for Part { slot, places, about } in refunded {
        let (Ok(now), Some(part)) = (about, answers.iter_mut().find(|part| part.slot == slot)) else {
            continue;
        };
        let Ok(decision) = &mut part.about else { continue };
        for (place, tier) in places.into_iter().zip(now.tiers()) {
            if let Some(index) = part.places.iter().position(|other| *other == place) {
                decision.set_verdict(index, tier.verdict());
            }
        }
    }
}

/// Merges the answers of all parts. A denial is final, even if other parts failed; otherwise, the error of one part fails the
/// request.
fn merge(answers: Vec<Part<Answer>>) -> Answer {
    let is_denial = |part: &Part<Answer>| matches!(&part.about, Ok(decision) if !decision.admits());
    let is_denied = answers.iter().any(is_denial);
    let (mut now, mut tiers): (_, Vec<(usize, TierDecision)>) = (0, Vec::new());
    let mut is_partial = false;
    for Part { places, about, .. } in answers {
        match about {
            Ok(decision) => {
                now = now.max(decision.now());
                tiers.extend(places.into_iter().zip(decision.into_tiers()));
            }
            Err(_) if is_denied => is_partial = true,
            Err(error) => return Err(error),
        }
    }
    tiers.sort_by_key(|(place, _)| *place);
    let mut tiers: Vec<TierDecision> = tiers.into_iter().map(|(_, tier)| tier).collect();
    if is_denied {
        tiers.iter_mut().for_each(TierDecision::clear_delay);
    }
    let decision = Decision::new(now, tiers.into_iter().collect());
    Ok(match is_partial {
        true => decision.partial(),
        false => decision,
    })
}
