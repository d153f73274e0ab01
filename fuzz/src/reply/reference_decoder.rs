//! A second, simpler decoder of replies: it parses all values first, and interprets them afterwards.

use tollgate::redis::Value;

use super::expected::{Expected, ExpectedCharge, NoDecision};

/// The largest integer that a Lua number, which is a double, represents exactly.
const MAX_EXACT: u64 = 1 << 53;

/// A value of a reply.
#[derive(Clone, Copy)]
enum Item {
    Number(u64),
    Negative,
    /// A fraction, or an integer beyond the exact range of Lua.
    Inexact,
    Text,
}

/// The values of a well-formed reply.
pub(super) struct ReferenceDecoder {
    now: u64,
    charges: std::vec::IntoIter<[Item; 6]>,
    failures: u64,
}

impl ReferenceDecoder {
    /// `None`, if it is no reply to this many charges.
    pub(super) fn new(reply: &Value, charges: usize) -> Option<Self> {
        let Value::BulkString(bytes) = reply else { return None };
        let items = array(bytes)?;
        let (numbers, after) = items.split_at_checked(1 + 6 * charges)?;
        let is_index_or_text = |item: &Item| matches!(item, Item::Number(_) | Item::Text);
        let is_text = |item: &&Item| matches!(item, Item::Text);
        let (Item::Number(now), charges) = (numbers[0], &numbers[1..]) else {
            return None;
        };
        let is_well_formed = charges.iter().all(|item| !is_text(&item)) && after.iter().all(is_index_or_text);
        is_well_formed.then(|| Self {
            now,
            charges: charges.as_chunks().0.to_vec().into_iter(),
            failures: after.iter().filter(is_text).count() as u64,
        })
    }

    /// The decision of the next operation, which has this many charges.
    pub(super) fn operation(&mut self, charges: usize, acquires: bool) -> Result<Expected, NoDecision> {
        let (mut expected, mut failed) = (Vec::new(), false);
        let charges: Vec<[Item; 6]> = self.charges.by_ref().take(charges).collect();
        for [outcome, remaining, wait, reset_after, at, position] in charges {
            let (Item::Number(outcome), Item::Number(remaining)) = (outcome, remaining) else {
                return Err(NoDecision::Malformed);
            };
            let (Item::Number(wait), Item::Number(reset_after)) = (wait, reset_after) else {
                return Err(NoDecision::Malformed);
            };
            if let (Item::Inexact, _) | (_, Item::Inexact) = (at, position) {
                return Err(NoDecision::Malformed);
            }
            match outcome {
                0..=2 => {}
                3 if (1..=self.failures).contains(&remaining) => failed = true,
                _ => return Err(NoDecision::Malformed),
            }
            let wait = if outcome == 2 { 0 } else { wait };
            expected.push(ExpectedCharge {
                // From 2^33 on, nothing remains, and the rest is the time until something does.
                verdict: [
                    outcome,
                    if remaining < 1 << 33 { remaining } else { 0 },
                    wait,
                    reset_after,
                ],
                mark: match (at, position) {
                    (Item::Number(at), Item::Number(position)) if acquires => Some([at, position]),
                    _ => None,
                },
            });
        }
        let (now, charges) = (self.now, expected);
        match failed {
            true => Err(NoDecision::Failed),
            false => Ok(Expected { now, charges }),
        }
    }
}

/// The values of an array without trailing bytes.
fn array(bytes: &[u8]) -> Option<Vec<Item>> {
    let (&tag, rest) = bytes.split_first()?;
    let (length, mut rest) = match tag {
        0x90..=0x9f => (u64::from(tag - 0x90), rest),
        0xdc => unsigned(rest, 2)?,
        0xdd => unsigned(rest, 4)?,
        _ => return None,
    };
    let mut items = Vec::new();
    for _ in 0..length {
        let (item, after) = item(rest)?;
        items.push(item);
        rest = after;
    }
    rest.is_empty().then_some(items)
}

fn item(bytes: &[u8]) -> Option<(Item, &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    match tag {
        0x00..=0x7f => Some((Item::Number(tag.into()), rest)),
        0xe0..=0xff => Some((Item::Negative, rest)),
        0xca => Some((Item::Inexact, unsigned(rest, 4)?.1)),
        0xcb => Some((Item::Inexact, unsigned(rest, 8)?.1)),
        0xcc..=0xcf => {
            let (number, rest) = unsigned(rest, 1 << (tag - 0xcc))?;
            Some((exact(number), rest))
        }
        0xd0..=0xd3 => {
            let width = 1 << (tag - 0xd0);
            let (number, after) = unsigned(rest, width)?;
            match rest[0] >= 0x80 {
                true => Some((Item::Negative, after)),
                false => Some((exact(number), after)),
            }
        }
        0xa0..=0xbf => text(rest, (tag - 0xa0).into()),
        0xd9..=0xdb => {
            let (length, rest) = unsigned(rest, 1 << (tag - 0xd9))?;
            text(rest, length)
        }
        _ => None,
    }
}

fn exact(number: u64) -> Item {
    match number <= MAX_EXACT {
        true => Item::Number(number),
        false => Item::Inexact,
    }
}

fn unsigned(bytes: &[u8], width: usize) -> Option<(u64, &[u8])> {
    let (number, rest) = bytes.split_at_checked(width)?;
    let mut whole = [0; 8];
    whole[8 - width..].copy_from_slice(number);
    Some((u64::from_be_bytes(whole), rest))
}

fn text(bytes: &[u8], length: u64) -> Option<(Item, &[u8])> {
    let (_, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    Some((Item::Text, rest))
}
