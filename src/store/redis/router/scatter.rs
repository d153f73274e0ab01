//! Scatter-gather for requests whose keys are in several slots of a cluster.
//!
//! No script can charge several slots atomically. So each slot is charged in parallel, and if one denies, the charges of the
//! others are refunded. A limit is never exceeded; but until a charge is refunded it may cause denials of other requests, and
//! if the refund is lost, until it expires.

use super::slot_map::Slot;
use crate::{
    charge::{Charge, Charges},
    decision::{Decision, TierDecision},
    operation::Operation,
    receipt::Receipt,
    store::redis::batcher::Answer,
};

/// The tiers of one slot, with their positions in the request.
pub(crate) struct SlotPart<T> {
    pub(crate) slot: Slot,
    positions: Vec<usize>,
    pub(crate) payload: T,
}

impl<T> SlotPart<T> {
    pub(crate) fn map<U>(self, map: impl FnOnce(T) -> U) -> SlotPart<U> {
        SlotPart {
            slot: self.slot,
            positions: self.positions,
            payload: map(self.payload),
        }
    }
}

/// Splits an operation into one part per slot.
pub(crate) fn split(operation: Operation, slot: impl Fn(&Charge) -> Slot) -> Vec<SlotPart<Operation>> {
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
pub(crate) fn refunds(answers: &mut [SlotPart<Answer>]) -> Vec<SlotPart<Operation>> {
    let refund = |part: &mut SlotPart<Answer>| {
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
    answers.iter_mut().filter_map(refund).collect()
}

/// Replaces the verdicts of tiers that were charged by those after their refund.
pub(crate) fn refresh_verdicts(answers: &mut [SlotPart<Answer>], refunded: Vec<SlotPart<Answer>>) {
    for SlotPart {
        slot,
        positions,
        payload,
    } in refunded
    {
        let (Ok(now), Some(part)) = (payload, answers.iter_mut().find(|part| part.slot == slot)) else {
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

/// Merges the answers of all parts. A denial is final, even if other parts failed; otherwise, the error of one part fails the
/// request.
pub(crate) fn merge(answers: Vec<SlotPart<Answer>>) -> Answer {
    let is_denial = |part: &SlotPart<Answer>| matches!(&part.payload, Ok(decision) if !decision.admits());
    let is_denied = answers.iter().any(is_denial);
    let (mut now, mut tiers): (_, Vec<(usize, TierDecision)>) = (0, Vec::new());
    let mut is_partial = false;
    for SlotPart { positions, payload, .. } in answers {
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
