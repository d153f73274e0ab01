//! Decodes a reply into decisions, as lua/README.md documents it.

use deadpool_redis::redis::{self, Cmd, RedisError, make_extension_error};

use super::{
    encode,
    msgpack::{Reader, Value},
};
use crate::{
    algorithm::Mark,
    charge::Charge,
    decision::{Decision, TierDecision, TierDecisions},
    operation::Operation,
    store::redis::error::StoreError,
    time::Micros,
    verdict::{Outcome, Verdict},
};

/// The outcome of a charge whose operation has failed.
const FAILED: u64 = 3;

/// The reply to a call, decoded from left to right.
pub(crate) struct Reply<'a> {
    now: Micros,
    values: Reader<'a>,
    failures: Vec<&'a [u8]>,
}

impl<'a> Reply<'a> {
    /// Decodes the reply to a number of charges, and logs keys that hold foreign data.
    pub(crate) fn new(reply: &'a redis::Value, charges: usize, command: &Cmd) -> Result<Self, StoreError> {
        let reader = match reply {
            redis::Value::BulkString(bytes) => Reader::new(bytes),
            _ => None,
        };
        let mut values =
            reader.ok_or_else(|| StoreError::protocol(format!("a packed array was expected, not {reply:?}")))?;
        let mut rest = values.clone();
        for _ in 0..1 + 6 * charges {
            next(&mut rest)?;
        }
        let mut failures = Vec::new();
        while rest.values > 0 {
            match rest.next() {
                Some(Value::Number(Some(number))) => warn_of_foreign_data(command, number),
                Some(Value::Text(why)) => failures.push(why),
                other => {
                    return Err(StoreError::protocol(format!(
                        "{other:?} is neither a key nor a failure"
                    )));
                }
            }
        }
        if !rest.is_done() {
            return Err(StoreError::protocol("there are bytes after the last value"));
        }
        let now = expect(&mut values)?;
        Ok(Self { now, values, failures })
    }

    /// The decision of the next operation, or why it failed.
    pub(crate) fn decision(&mut self, operation: Operation) -> Result<Result<Decision, RedisError>, StoreError> {
        let acquires = matches!(operation, Operation::Acquire(_));
        let (mut tiers, mut failure) = (TierDecisions::new(), None);
        for charge in operation.into_charges() {
            match self.verdict()? {
                Ok(verdict) => {
                    let mark = self.mark(&charge)?.filter(|_| acquires);
                    tiers.push(TierDecision { charge, verdict, mark });
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
                let _ = (next(&mut self.values)?, next(&mut self.values)?);
                return self.failure(remaining).map(Err);
            }
            other => return Err(StoreError::protocol(format!("{other} is not an outcome"))),
        };
        Ok(Ok(Verdict {
            outcome,
            remaining,
            reset_after,
        }))
    }

    fn mark(&mut self, charge: &Charge) -> Result<Option<Mark>, StoreError> {
        let (at, position) = (next(&mut self.values)?, next(&mut self.values)?);
        let unit = charge.limit.algorithm().unit();
        Ok(at.zip(position).map(|(at, position)| Mark { at, position, unit }))
    }

    fn numbers<const N: usize>(&mut self) -> Result<[u64; N], StoreError> {
        let mut numbers = [0; N];
        for number in &mut numbers {
            *number = expect(&mut self.values)?;
        }
        Ok(numbers)
    }

    /// An error with the message of Redis, which begins with its code.
    fn failure(&self, number: u64) -> Result<RedisError, StoreError> {
        let index = usize::try_from(number).unwrap_or_default().wrapping_sub(1);
        let why = self.failures.get(index);
        let why = why.ok_or_else(|| StoreError::protocol(format!("there is no failure {number}")))?;
        let why = String::from_utf8_lossy(why);
        let (code, detail) = why.split_once(' ').unwrap_or((&why, ""));
        Ok(make_extension_error(code.to_owned(), Some(detail.to_owned())))
    }
}

/// The next integer; `None` if it is negative.
fn next(values: &mut Reader<'_>) -> Result<Option<u64>, StoreError> {
    match values.next() {
        Some(Value::Number(number)) => Ok(number),
        other => Err(StoreError::protocol(format!(
            "a whole number was expected, not {other:?}"
        ))),
    }
}

fn expect(values: &mut Reader<'_>) -> Result<u64, StoreError> {
    next(values)?.ok_or_else(|| StoreError::protocol("a number is negative"))
}

fn warn_of_foreign_data(command: &Cmd, number: u64) {
    if let Some(key) = encode::key(command, number) {
        tracing::warn!(
            target: "tollgate::redis",
            key,
            "key of a limit holds foreign data: treated as fresh and overwritten"
        );
    }
}
