//! A reply as a decision: the other half of what lua/README.md documents.

use deadpool_redis::redis::Value;
use smallvec::SmallVec;

use super::{call::Prefix, error::StoreError};
use crate::{
    algorithm::Mark,
    charge::Charge,
    decision::{Decision, Tier},
    operation::Operation,
    verdict::{Outcome, Verdict},
};

/// Whole numbers from a reply, one after another.
struct Numbers<'a>(std::slice::Iter<'a, Value>);

impl Numbers<'_> {
    /// The next one; -1 stands for none.
    fn next(&mut self) -> Result<Option<u64>, StoreError> {
        match self.0.next() {
            Some(Value::Int(number)) => Ok(u64::try_from(*number).ok()),
            other => Err(StoreError::reply(format!("a whole number was expected, not {other:?}"))),
        }
    }

    fn expect(&mut self) -> Result<u64, StoreError> {
        self.next()?.ok_or_else(|| StoreError::reply("a number is negative"))
    }

    fn verdict(&mut self) -> Result<Verdict, StoreError> {
        let (outcome, remaining, wait) = (self.expect()?, self.expect()?, self.expect()?);
        let outcome = match outcome {
            0 => Outcome::Admitted { delay: wait },
            1 => Outcome::Limited { retry_after: wait },
            2 => Outcome::Impossible,
            other => return Err(StoreError::reply(format!("{other} is no outcome"))),
        };
        let reset_after = self.expect()?;
        Ok(Verdict {
            outcome,
            remaining,
            reset_after,
        })
    }

    fn mark(&mut self, charge: &Charge) -> Result<Option<Mark>, StoreError> {
        let (at, place, unit) = (self.next()?, self.next()?, charge.limit.rule().unit());
        Ok(at.zip(place).map(|(at, place)| Mark { at, place, unit }))
    }
}

pub(super) fn decode(reply: Value, operation: Operation, prefix: &Prefix) -> Result<Decision, StoreError> {
    let Value::Array(values) = &reply else {
        return Err(StoreError::reply(format!("an array was expected, not {reply:?}")));
    };
    let mut numbers = Numbers(values.iter());
    let now = numbers.expect()?;
    let acquires = matches!(operation, Operation::Acquire(_));
    let mut said: SmallVec<[(Verdict, Option<Mark>); 3]> = SmallVec::new();
    for charge in operation.charges() {
        said.push((numbers.verdict()?, numbers.mark(charge)?));
    }
    warn_of_garbage(numbers, &operation, prefix)?;
    let tier = |(charge, (verdict, mark)): (Charge, (Verdict, Option<Mark>))| Tier {
        charge,
        verdict,
        mark: mark.filter(|_| acquires),
    };
    Ok(Decision::new(
        now,
        operation.into_charges().zip(said).map(tier).collect(),
    ))
}

/// What is left of a reply names the keys that hold something which is not ours.
fn warn_of_garbage(mut numbers: Numbers<'_>, operation: &Operation, prefix: &Prefix) -> Result<(), StoreError> {
    while !numbers.0.as_slice().is_empty() {
        let index = numbers.expect()? as usize;
        if let Some(charge) = operation.charges().nth(index.wrapping_sub(1)) {
            let key = prefix.key(charge);
            tracing::warn!(
                key,
                "a limit's key holds something else: it counts as fresh and will be overwritten"
            );
        }
    }
    Ok(())
}
