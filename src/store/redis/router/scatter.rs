//! Scatter-gather for requests whose keys are in several slots of a cluster.
//!
//! No script can charge several slots atomically. So each slot is charged in parallel, and if one denies, the charges of the
//! others are refunded. A peek charges nothing; if one slot denies, the others are asked for their current state. A limit is
//! never exceeded; but until a charge is refunded it may cause denials of other requests, and if the refund is lost, until it
//! expires.
//!
//! If the node of a slot fails, the others decide alone, provided that every charge in the slot fails open or is a shadow: one node
//! that is down must not lift the limits on the others. Otherwise the request fails, and its charges are refunded.

use std::{future::Future, sync::Arc};

use tokio::time::{Instant, timeout_at};

use super::{join_all::join_all, router::Router, slot_map::Slot};
use crate::{
    charge::{Charge, Charges},
    decision::{Decision, TierDecision, UncheckedTiers},
    operation::Operation,
    receipt::{Charged, Receipt},
    store::redis::{batch::Response, error::StoreError},
};

impl Router {
    /// Applies an operation in one part per slot, each by `submit`. If it is dropped before all parts have responded, because no runtime
    /// runs, `release` gets what those that have responded hold.
    pub(crate) async fn scatter<S, F, R>(
        &self,
        operation: Operation,
        deadline: Instant,
        submit: &S,
        release: &R,
    ) -> Response
    where
        S: Fn(Slot, Operation, Instant) -> F + Sync,
        F: Future<Output = Response> + Send,
        R: Fn(Receipt) + Sync,
    {
        let peeks = matches!(operation, Operation::Peek(_));
        let acquired = match &operation {
            Operation::Acquire(charges) => Some(charges.clone()),
            _ => None,
        };
        let parts = split(operation, |charge| self.slot(charge));
        let mut responses = gather(parts, deadline, submit, release).await;
        if let Some(charges) = &acquired
            && !responses.iter().all(|part| part.lets_pass(charges))
        {
            let refunds = refunds(&mut responses);
            // Refunds that take longer than the deadline are completed without the request.
            if let Ok(refunded) = timeout_at(
                deadline,
                gather(refunds, Instant::now() + self.timeout, submit, release),
            )
            .await
            {
                refresh_verdicts(&mut responses, refunded);
            }
        } else if peeks && responses.iter().any(SlotPart::is_denial) {
            let current = gather(current_states(&responses), deadline, submit, release).await;
            refresh_verdicts(&mut responses, current);
        }
        merge(responses, acquired.as_ref(), deadline)
    }
}

/// Submits all parts at once, and waits for their responses.
async fn gather<F: Future<Output = Response>>(
    parts: Vec<SlotPart<Operation>>,
    deadline: Instant,
    submit: &impl Fn(Slot, Operation, Instant) -> F,
    release: &impl Fn(Receipt),
) -> Vec<SlotPart<Response>> {
    let submit = async |part: SlotPart<Operation>| {
        let SlotPart {
            slot,
            positions,
            payload,
        } = part;
        let response = Some(submit(slot, payload, deadline).await);
        SlotPart {
            slot,
            positions,
            payload: Answered { response, release },
        }
    };
    let answered = join_all(parts.into_iter().map(submit)).await;
    let responses = answered.into_iter().map(|part| part.map(Answered::into_response));
    responses.collect()
}

/// The response of a part while others are awaited. If it is dropped, what it holds of concurrency limits is released.
struct Answered<'a, R: Fn(Receipt)> {
    response: Option<Response>,
    release: &'a R,
}

impl<R: Fn(Receipt)> Answered<'_, R> {
    fn into_response(mut self) -> Response {
        self.response.take().expect("it is taken once")
    }
}

impl<R: Fn(Receipt)> Drop for Answered<'_, R> {
    fn drop(&mut self) {
        if let Some(Ok(decision)) = &mut self.response
            && let Some(receipt) = decision.take_held()
        {
            (self.release)(receipt);
        }
    }
}

/// The tiers of one slot, with their positions in the request.
struct SlotPart<T> {
    slot: Slot,
    positions: Vec<usize>,
    payload: T,
}

impl<T> SlotPart<T> {
    fn map<U>(self, map: impl FnOnce(T) -> U) -> SlotPart<U> {
        SlotPart {
            slot: self.slot,
            positions: self.positions,
            payload: map(self.payload),
        }
    }
}

impl SlotPart<Response> {
    fn is_denial(&self) -> bool {
        matches!(&self.payload, Ok(decision) if !decision.admits())
    }

    /// Whether it admits its tiers, or failed and every one of them fails open or is a shadow.
    fn lets_pass(&self, charges: &Charges) -> bool {
        match &self.payload {
            Ok(decision) => decision.admits(),
            Err(_) => !self.charges(charges).any(Charge::is_required),
        }
    }

    /// Its charges among those of the request.
    fn charges<'a>(&self, charges: &'a Charges) -> impl Iterator<Item = &'a Charge> {
        self.positions.iter().map(|position| &charges.as_slice()[*position])
    }
}

/// Splits an operation into one part per slot.
fn split(operation: Operation, slot: impl Fn(&Charge) -> Slot) -> Vec<SlotPart<Operation>> {
    match operation {
        Operation::Acquire(charges) => by_slot(charges.into_each(), &slot, |part| {
            Operation::Acquire(Charges::from_distinct(part))
        }),
        Operation::Peek(charges) => by_slot(charges.into_each(), &slot, |part| {
            Operation::Peek(Charges::from_distinct(part))
        }),
        Operation::Reset(charges) => by_slot(charges.into_each(), &slot, |part| {
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
) -> Vec<SlotPart<Operation>> {
    let mut parts: Vec<SlotPart<Vec<T>>> = Vec::new();
    for (position, tier) in tiers.enumerate() {
        let slot = slot(&tier);
        match parts.iter_mut().find(|part| part.slot == slot) {
            Some(part) => {
                part.positions.push(position);
                part.payload.push(tier);
            }
            None => parts.push(SlotPart {
                slot,
                positions: vec![position],
                payload: vec![tier],
            }),
        }
    }
    parts.into_iter().map(|part| part.map(&operation)).collect()
}

/// The refunds of all charges that were taken.
fn refunds(responses: &mut [SlotPart<Response>]) -> Vec<SlotPart<Operation>> {
    let refund = |part: &mut SlotPart<Response>| {
        let decision = part.payload.as_mut().ok()?;
        let taken = decision
            .tiers()
            .iter()
            .zip(&part.positions)
            .filter(|(tier, _)| tier.mark.is_some());
        let positions = taken.map(|(_, position)| *position).collect();
        let charged = decision.take_receipt()?.into_charged().map(returned);
        let payload = Operation::Refund(Receipt::from_charged(charged.collect()));
        Some(SlotPart {
            slot: part.slot,
            positions,
            payload,
        })
    };
    responses.iter_mut().filter_map(refund).collect()
}

/// A charge as a refund gives it back. Under a limit with leases, only what is left of its own units: other nodes may have returned
/// theirs since.
fn returned(mut charged: Charged) -> Charged {
    let Charge { limit, cost, .. } = &charged.charge;
    if limit.lease_micros().is_some() {
        charged.mark = limit.algorithm().return_mark(charged.mark, *cost);
    }
    charged
}

/// Peeks at the current state of all tiers that would admit, in slots that do.
fn current_states(responses: &[SlotPart<Response>]) -> Vec<SlotPart<Operation>> {
    let peek = |part: &SlotPart<Response>| {
        let decision = part.payload.as_ref().ok().filter(|decision| decision.admits())?;
        let tiers = decision.tiers().iter().zip(&part.positions);
        let (charges, positions): (Vec<Charge>, _) = tiers
            .filter(|(tier, _)| tier.verdict.outcome.admits())
            .map(|(tier, position)| (tier.charge.clone().with_cost(0), *position))
            .unzip();
        Some(SlotPart {
            slot: part.slot,
            positions,
            payload: Operation::Peek(Charges::from_distinct(charges)),
        })
    };
    responses.iter().filter_map(peek).collect()
}

/// Replaces the verdicts of tiers by those after their refund, or about their current state.
fn refresh_verdicts(responses: &mut [SlotPart<Response>], current: Vec<SlotPart<Response>>) {
    for SlotPart {
        slot,
        positions,
        payload,
    } in current
    {
        let (Ok(now), Some(part)) = (payload, responses.iter_mut().find(|part| part.slot == slot)) else {
            continue;
        };
        let Ok(decision) = &mut part.payload else { continue };
        for (position, tier) in positions.into_iter().zip(now.tiers()) {
            if let Some(index) = part.positions.iter().position(|other| *other == position) {
                decision.set_verdict(index, tier.verdict());
            }
        }
    }
}

/// Merges the responses of all parts. A denial is final, even if other parts failed. Otherwise an acquire fails if a part with a
/// required charge failed, or all parts did; every other operation fails if one part did.
fn merge(responses: Vec<SlotPart<Response>>, acquired: Option<&Charges>, deadline: Instant) -> Response {
    let is_denied = responses.iter().any(SlotPart::is_denial);
    let is_decided = |charges: &Charges| {
        let is_answered = responses.iter().any(|part| part.payload.is_ok());
        is_denied || is_answered && responses.iter().all(|part| part.lets_pass(charges))
    };
    let decided = acquired.filter(|charges| is_decided(charges));
    let (mut now, mut tiers): (_, Vec<(usize, TierDecision)>) = (0, Vec::new());
    let (mut failed, mut failure): (_, Option<StoreError>) = (Vec::new(), None);
    for SlotPart { positions, payload, .. } in responses {
        match payload {
            Ok(decision) => {
                now = now.max(decision.now());
                tiers.extend(positions.into_iter().zip(decision.into_tiers()));
            }
            Err(error) => {
                failed.extend(positions);
                // An error after which a charge is in doubt is reported rather than one that certainly charged nothing.
                failure = failure.filter(|known| known.may_have_charged() || !error.may_have_charged());
                failure.get_or_insert(error);
            }
        }
    }
    tiers.sort_by_key(|(position, _)| *position);
    let mut tiers: Vec<TierDecision> = tiers.into_iter().map(|(_, tier)| tier).collect();
    if is_denied {
        tiers.iter_mut().for_each(TierDecision::clear_delay);
    }
    let decision = Decision::new(now, tiers.into_iter().collect());
    match (failure, decided) {
        (None, _) => Ok(decision),
        (Some(error), None) => Err(error),
        (Some(error), Some(charges)) => {
            failed.sort_unstable();
            let charges = failed.into_iter().map(|position| charges.as_slice()[position].clone());
            Ok(decision.with_unchecked_tiers(UncheckedTiers {
                charges: Charges::from_distinct(charges),
                error: Arc::new(error),
                deadline,
            }))
        }
    }
}

#[cfg(test)]
mod tests;
