//! Decodes a reply into decisions, as lua/README.md documents it.

use deadpool_redis::redis::{self, Cmd, RedisError};

use super::{
    encode,
    msgpack::{Reader, Value},
    script,
};
use crate::{
    algorithm::Mark,
    charge::Charge,
    decision::{Decision, TierDecision, TierDecisions},
    operation::Operation,
    store::redis::error::StoreError,
    time::Micros,
    verdict::{RawOutcome, Remaining, Verdict},
};

/// The outcome of a charge whose operation has failed.
const FAILED: u64 = 3;

/// The values per charge.
const VALUES_PER_CHARGE: usize = 6;

/// The reply to a call, decoded from left to right.
pub(crate) struct Reply<'a> {
    now: Micros,
    /// The values of the charges, all of them numbers.
    values: Reader<'a>,
    failures: Vec<&'a [u8]>,
}

/// Why an operation has no decision.
#[derive(Debug)]
pub(crate) enum OperationError {
    /// Redis reported an error for it.
    Server(RedisError),
    /// The script does not send such values.
    Protocol(StoreError),
}

impl<'a> Reply<'a> {
    /// Decodes the frame of a reply to a number of charges, and logs keys that hold foreign data. Values that the script does not send
    /// are the affair of their operation, if they are numbers.
    pub(crate) fn new(reply: &'a redis::Value, charges: usize, command: &Cmd) -> Result<Self, StoreError> {
        let reader = match reply {
            redis::Value::BulkString(bytes) => Reader::new(bytes),
            _ => None,
        };
        let mut values =
            reader.ok_or_else(|| StoreError::protocol(format!("a packed array was expected, not {reply:?}")))?;
        let now = expect(values.next())?;
        let mut rest = values.clone();
        for _ in 0..VALUES_PER_CHARGE * charges {
            match rest.next() {
                Some(Value::Number(_) | Value::Inexact) => {}
                other => return Err(StoreError::protocol(format!("a number was expected, not {other:?}"))),
            }
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
        Ok(Self { now, values, failures })
    }

    /// The decision of the next operation. An error affects this operation only.
    pub(crate) fn decision(&mut self, operation: Operation) -> Result<Decision, OperationError> {
        let acquires = matches!(operation, Operation::Acquire(_));
        let (mut tiers, mut failure) = (TierDecisions::new(), None);
        for charge in operation.into_charges() {
            // After an error, too, so that the next operation starts with its own values.
            let values = [(); VALUES_PER_CHARGE].map(|()| self.values.next());
            match self.charge(charge, values, acquires) {
                Ok(tier) => tiers.push(tier),
                // An invalid value outweighs a reported failure, after which nothing would be charged.
                Err(OperationError::Server(_)) if failure.is_some() => {}
                Err(error) => failure = Some(error),
            }
        }
        match failure {
            Some(error) => Err(error),
            None => Ok(Decision::new(self.now, tiers)),
        }
    }

    fn charge(
        &self,
        charge: Charge,
        values: [Option<Value<'_>>; VALUES_PER_CHARGE],
        acquires: bool,
    ) -> Result<TierDecision, OperationError> {
        let [outcome, remaining, wait, reset_after, at, position] = values;
        let (outcome, remaining, wait, reset_after) = (
            expect(outcome)?,
            expect(remaining)?,
            expect(wait)?,
            expect(reset_after)?,
        );
        let (at, position) = (exact(at)?, exact(position)?);
        let outcome = match outcome {
            0 => RawOutcome::Admitted { delay: wait },
            1 => RawOutcome::Limited { retry_after: wait },
            2 => RawOutcome::Impossible,
            FAILED => return Err(self.failure(remaining)),
            other => return Err(StoreError::protocol(format!("{other} is not an outcome")).into()),
        };
        let verdict = Verdict {
            outcome,
            remaining: Remaining::from_reply(remaining),
            reset_after,
        };
        let unit = charge.limit.algorithm().unit();
        // After a release, the holder compares it with that of the acquire.
        let mark = at.zip(position).filter(|_| acquires || charge.holds_slots());
        let mark = mark.map(|(at, position)| Mark::new(at, position, unit));
        Ok(TierDecision { charge, verdict, mark })
    }

    /// The error that an operation failed with.
    fn failure(&self, number: u64) -> OperationError {
        let index = usize::try_from(number).unwrap_or_default().wrapping_sub(1);
        let Some(why) = self.failures.get(index) else {
            return StoreError::protocol(format!("there is no failure {number}")).into();
        };
        let why = String::from_utf8_lossy(why);
        OperationError::Server(script::server_error(script::command_error(&why).unwrap_or(&why)))
    }
}

impl From<StoreError> for OperationError {
    fn from(error: StoreError) -> Self {
        Self::Protocol(error)
    }
}

/// An integer; `None` if it is negative.
fn exact(value: Option<Value<'_>>) -> Result<Option<u64>, StoreError> {
    match value {
        Some(Value::Number(number)) => Ok(number),
        other => Err(StoreError::protocol(format!(
            "a whole number was expected, not {other:?}"
        ))),
    }
}

fn expect(value: Option<Value<'_>>) -> Result<u64, StoreError> {
    exact(value)?.ok_or_else(|| StoreError::protocol("a number is negative"))
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
