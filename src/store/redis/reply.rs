//! A reply as decisions: the other half of what lua/README.md documents.

use deadpool_redis::redis::{Cmd, RedisError, Value, make_extension_error};

use super::{call, error::StoreError};
use crate::{
    algorithm::Mark,
    charge::Charge,
    decision::{Decision, Tier, Tiers},
    operation::Operation,
    time::Micros,
    verdict::{Outcome, Verdict},
};

/// What a charge says when its operation has failed.
const FAILED: u64 = 3;

/// The answer to a call, read from left to right.
pub(super) struct Reply {
    now: Micros,
    values: std::vec::IntoIter<Value>,
    failures: Vec<String>,
}

impl Reply {
    /// Takes a reply apart, and warns of keys that hold something which is not ours.
    pub(super) fn new(reply: Value, charges: usize, command: &Cmd) -> Result<Self, StoreError> {
        let Value::Array(mut values) = reply else {
            return Err(StoreError::reply(format!("an array was expected, not {reply:?}")));
        };
        let said = 1 + 6 * charges;
        if values.len() < said {
            let reason = format!("{} values are too few for {charges} charges", values.len());
            return Err(StoreError::reply(reason));
        }
        let mut failures = Vec::new();
        for value in values.drain(said..) {
            match value {
                Value::Int(number) => warn_of_garbage(command, number),
                Value::BulkString(why) => failures.push(String::from_utf8_lossy(&why).into_owned()),
                other => return Err(StoreError::reply(format!("{other:?} is neither a key nor a failure"))),
            }
        }
        let mut values = values.into_iter();
        let now = expect(&mut values)?;
        Ok(Self { now, values, failures })
    }

    /// What came of the next operation: a decision, or why there is none.
    pub(super) fn decision(&mut self, operation: Operation) -> Result<Result<Decision, RedisError>, StoreError> {
        let acquires = matches!(operation, Operation::Acquire(_));
        let (mut tiers, mut failure) = (Tiers::new(), None);
        for charge in operation.into_charges() {
            match self.verdict()? {
                Ok(verdict) => {
                    let mark = self.mark(&charge)?.filter(|_| acquires);
                    tiers.push(Tier { charge, verdict, mark });
                }
                Err(error) => failure = Some(error),
            }
        }
        Ok(match failure {
            Some(error) => Err(error),
            None => Ok(Decision::new(self.now, tiers)),
        })
    }

    fn verdict(&mut self) -> Result<Result<Verdict, RedisError>, StoreError> {
        let [outcome, remaining, wait, reset_after] = self.numbers()?;
        let outcome = match outcome {
            0 => Outcome::Admitted { delay: wait },
            1 => Outcome::Limited { retry_after: wait },
            2 => Outcome::Impossible,
            FAILED => {
                self.values.nth(1);
                return self.failure(remaining).map(Err);
            }
            other => return Err(StoreError::reply(format!("{other} is no outcome"))),
        };
        Ok(Ok(Verdict {
            outcome,
            remaining,
            reset_after,
        }))
    }

    fn mark(&mut self, charge: &Charge) -> Result<Option<Mark>, StoreError> {
        let (at, place) = (next(&mut self.values)?, next(&mut self.values)?);
        let unit = charge.limit.rule().unit();
        Ok(at.zip(place).map(|(at, place)| Mark { at, place, unit }))
    }

    fn numbers<const N: usize>(&mut self) -> Result<[u64; N], StoreError> {
        let mut numbers = [0; N];
        for number in &mut numbers {
            *number = expect(&mut self.values)?;
        }
        Ok(numbers)
    }

    /// An error in Redis's words, with its code in front as ever.
    fn failure(&self, number: u64) -> Result<RedisError, StoreError> {
        let index = usize::try_from(number).unwrap_or_default().wrapping_sub(1);
        let why = self.failures.get(index);
        let why = why.ok_or_else(|| StoreError::reply(format!("there is no failure {number}")))?;
        let (code, detail) = why.split_once(' ').unwrap_or((why, ""));
        Ok(make_extension_error(code.to_owned(), Some(detail.to_owned())))
    }
}

/// The next whole number; a negative one stands for none.
fn next(values: &mut impl Iterator<Item = Value>) -> Result<Option<u64>, StoreError> {
    match values.next() {
        Some(Value::Int(number)) => Ok(u64::try_from(number).ok()),
        other => Err(StoreError::reply(format!("a whole number was expected, not {other:?}"))),
    }
}

fn expect(values: &mut impl Iterator<Item = Value>) -> Result<u64, StoreError> {
    next(values)?.ok_or_else(|| StoreError::reply("a number is negative"))
}

fn warn_of_garbage(command: &Cmd, number: i64) {
    if let Some(key) = call::key(command, number.unsigned_abs()) {
        tracing::warn!(
            key,
            "a limit's key holds something else: it counts as fresh and will be overwritten"
        );
    }
}
