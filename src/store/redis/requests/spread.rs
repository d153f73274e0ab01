//! A request whose keys are in several of a cluster's slots.
//!
//! No script can charge them all or none. So each slot is asked for its part, side by side, and if one refuses, what
//! the others took is given back. A limit is never exceeded; but until it is given back, a charge is in the way of
//! others, and if that is lost, until it has drained.

use std::{future::poll_fn, pin::Pin, sync::Arc, task::Poll};

use tokio::{
    sync::oneshot,
    time::{Instant, timeout_at},
};

use super::{awaited::Awaited, queue::Answer, send, shared::Shared};
use crate::{
    charge::{Charge, Charges},
    decision::{Decision, Tier},
    operation::Operation,
    receipt::Receipt,
    store::redis::servers::Slot,
};

/// The tiers of one slot, by their places among the request's.
struct Part<T> {
    slot: Slot,
    places: Vec<usize>,
    about: T,
}

/// Sends an operation, slot by slot.
pub(crate) fn submit(shared: &Arc<Shared>, operation: Operation, until: Instant) -> Awaited {
    let (sender, answer) = oneshot::channel();
    let applied = apply(Arc::clone(shared), operation, until, sender);
    Awaited::new(shared, Some(Box::pin(applied)), answer)
}

/// Does what an operation says, slot by slot, and answers. It is seen through though nobody waits for the answer any
/// more: what has been taken may have to be given back.
async fn apply(shared: Arc<Shared>, operation: Operation, until: Instant, answer: oneshot::Sender<Answer>) {
    let sent = Instant::now();
    let acquires = matches!(operation, Operation::Acquire(_));
    let mut said = ask(&shared, split(&shared, operation), until).await;
    let admitted = said.iter().all(|part| part.about.as_ref().is_ok_and(Decision::admits));
    let mut late = None;
    if acquires && !admitted {
        let mut refunds = Box::pin(ask(&shared, refunds(&mut said), Instant::now() + shared.deadline));
        match timeout_at(until, &mut refunds).await {
            Ok(refunded) => tell_as_they_stand(&mut said, refunded),
            Err(_) => late = Some(refunds),
        }
    }
    let decided = merge(said);
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

/// Asks every slot for its part, side by side.
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
            if let Poll::Ready(said) = Pin::new(&mut part.about).poll(context) {
                *answer = Some(said);
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

/// An operation, slot by slot.
fn split(shared: &Shared, operation: Operation) -> Vec<Part<Operation>> {
    let slot = |charge: &Charge| shared.slot(charge);
    match operation {
        Operation::Acquire(charges) => by_slot(charges.into_each(), slot, |part| {
            Operation::Acquire(Charges::apart(part))
        }),
        Operation::Reset(charges) => by_slot(charges.into_each(), slot, |part| Operation::Reset(Charges::apart(part))),
        Operation::Refund(receipt) => by_slot(
            receipt.into_charged(),
            |charged| slot(&charged.charge),
            |part| Operation::Refund(Receipt::apart(part)),
        ),
        Operation::Settle(receipt) => by_slot(
            receipt.into_charged(),
            |charged| slot(&charged.charge),
            |part| Operation::Settle(Receipt::apart(part)),
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

/// What it takes to give back whatever was taken.
fn refunds(said: &mut [Part<Answer>]) -> Vec<Part<Operation>> {
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
    said.iter_mut().filter_map(refund).collect()
}

/// A tier that would have admitted tells what it has left now that its charge has been given back.
fn tell_as_they_stand(said: &mut [Part<Answer>], refunded: Vec<Part<Answer>>) {
    for Part { slot, places, about } in refunded {
        let (Ok(now), Some(part)) = (about, said.iter_mut().find(|part| part.slot == slot)) else {
            continue;
        };
        let Ok(decision) = &mut part.about else { continue };
        for (place, tier) in places.into_iter().zip(now.tiers()) {
            if let Some(index) = part.places.iter().position(|other| *other == place) {
                decision.tell(index, tier.verdict());
            }
        }
    }
}

/// What the parts amount to. A refusal stands, whatever has become of the other parts; otherwise one that failed fails
/// the whole.
fn merge(said: Vec<Part<Answer>>) -> Answer {
    let refused = |part: &Part<Answer>| matches!(&part.about, Ok(decision) if !decision.admits());
    let is_refused = said.iter().any(refused);
    let (mut now, mut tiers): (_, Vec<(usize, Tier)>) = (0, Vec::new());
    let mut is_partial = false;
    for Part { places, about, .. } in said {
        match about {
            Ok(decision) => {
                now = now.max(decision.now());
                tiers.extend(places.into_iter().zip(decision.into_tiers()));
            }
            Err(_) if is_refused => is_partial = true,
            Err(error) => return Err(error),
        }
    }
    tiers.sort_by_key(|(place, _)| *place);
    let mut tiers: Vec<Tier> = tiers.into_iter().map(|(_, tier)| tier).collect();
    if is_refused {
        tiers.iter_mut().for_each(Tier::do_not_hold);
    }
    let decision = Decision::new(now, tiers.into_iter().collect());
    Ok(match is_partial {
        true => decision.partial(),
        false => decision,
    })
}
