//! Scatter-gather for requests whose keys are in several slots of a cluster.
//!
//! No script can charge several slots atomically. So each slot is charged in parallel, and if one denies, the charges of the
//! others are refunded. A limit is never exceeded; but until a charge is refunded it may cause denials of other requests, and
//! if the refund is lost, until it expires.

use std::{future::Future, pin::Pin};

use tokio::time::{Instant, timeout_at};

use super::{join_all::join_all, router::Router, slot_map::Slot};
use crate::{
    charge::{Charge, Charges},
    decision::{Decision, TierDecision},
    operation::Operation,
    receipt::Receipt,
    store::redis::batch::Response,
};

/// Refunds that are not completed at the deadline of their request.
pub(crate) type LateRefunds<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

impl Router {
    /// Applies an operation in one part per slot, each by `submit`. If the refunds take longer than the deadline, the caller has to
    /// complete them after the response.
    pub(crate) async fn scatter<'a, S, F>(
        &'a self,
        operation: Operation,
        deadline: Instant,
        submit: &'a S,
    ) -> (Response, Option<LateRefunds<'a>>)
    where
        S: Fn(Slot, Operation, Instant) -> F + Sync,
        F: Future<Output = Response> + Send + 'a,
    {
        let acquires = matches!(operation, Operation::Acquire(_));
        let parts = split(operation, |charge| self.slot(charge));
        let mut responses = gather(parts, deadline, submit).await;
        let is_admitted = |part: &SlotPart<Response>| part.payload.as_ref().is_ok_and(Decision::admits);
        let mut late: Option<LateRefunds<'a>> = None;
        if acquires && !responses.iter().all(is_admitted) {
            let refunds = refunds(&mut responses);
            let mut refunded = Box::pin(gather(refunds, Instant::now() + self.timeout, submit));
            match timeout_at(deadline, &mut refunded).await {
                Ok(refunded) => refresh_verdicts(&mut responses, refunded),
                Err(_) => late = Some(Box::pin(async move { drop(refunded.await) })),
            }
        }
        (merge(responses), late)
    }
}

/// Submits all parts at once, and waits for their responses.
async fn gather<F: Future<Output = Response>>(
    parts: Vec<SlotPart<Operation>>,
    deadline: Instant,
    submit: &impl Fn(Slot, Operation, Instant) -> F,
) -> Vec<SlotPart<Response>> {
    let submit = async |part: SlotPart<Operation>| {
        let SlotPart {
            slot,
            positions,
            payload,
        } = part;
        let payload = submit(slot, payload, deadline).await;
        SlotPart {
            slot,
            positions,
            payload,
        }
    };
    join_all(parts.into_iter().map(submit)).await
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

/// Splits an operation into one part per slot.
fn split(operation: Operation, slot: impl Fn(&Charge) -> Slot) -> Vec<SlotPart<Operation>> {
    match operation {
        Operation::Acquire(charges) => by_slot(charges.into_each(), &slot, |part| {
            Operation::Acquire(Charges::from_distinct(part))
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
        let payload = Operation::Refund(decision.take_receipt()?);
        Some(SlotPart {
            slot: part.slot,
            positions,
            payload,
        })
    };
    responses.iter_mut().filter_map(refund).collect()
}

/// Replaces the verdicts of tiers that were charged by those after their refund.
fn refresh_verdicts(responses: &mut [SlotPart<Response>], refunded: Vec<SlotPart<Response>>) {
    for SlotPart {
        slot,
        positions,
        payload,
    } in refunded
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

/// Merges the responses of all parts. A denial is final, even if other parts failed; otherwise, the error of one part fails the
/// request.
fn merge(responses: Vec<SlotPart<Response>>) -> Response {
    let is_denial = |part: &SlotPart<Response>| matches!(&part.payload, Ok(decision) if !decision.admits());
    let is_denied = responses.iter().any(is_denial);
    let (mut now, mut tiers): (_, Vec<(usize, TierDecision)>) = (0, Vec::new());
    let mut is_partial = false;
    for SlotPart { positions, payload, .. } in responses {
        match payload {
            Ok(decision) => {
                now = now.max(decision.now());
                tiers.extend(positions.into_iter().zip(decision.into_tiers()));
            }
            Err(_) if is_denied => is_partial = true,
            Err(error) => return Err(error),
        }
    }
    tiers.sort_by_key(|(position, _)| *position);
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
