//! The trait of all stores.

use std::error::Error;

use crate::{charge::Charges, clock::Clock, decision::Decision, operation::Operation};

/// Keeps the state of limits, and decides about charges. It is sealed, so that operations and charges can be extended.
///
/// ```
/// use tollgate::{Charge, Key, Limit, MemoryStore, Operation, Quota, Store, TokenBucket};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let store = MemoryStore::new();
/// let limit = Limit::new("user", TokenBucket::new(Quota::per_minute(1)));
/// let charge = Charge::new(limit, Key::new("user:12345"));
///
/// let first = store.apply(Operation::Acquire(charge.clone().into())).await.unwrap();
/// let second = store.apply(Operation::Acquire(charge.into())).await.unwrap();
/// assert!(first.admits() && !second.admits());
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a store",
    note = "use `MemoryStore::new()` for one node, or `RedisStore::connect(url)?` for many"
)]
pub trait Store: Sealed + Clone + Send + Sync + 'static {
    /// The error if it cannot decide.
    type Error: Into<Box<dyn Error + Send + Sync>>;
    /// The future of a decision.
    type Future: Future<Output = Result<Decision, Self::Error>> + Send + Unpin + 'static;

    /// Applies an operation in one atomic step, and returns the decision.
    ///
    /// A cluster may fail for some charges of an [`Acquire`](Operation::Acquire) only: then the others are refunded, and the error is
    /// returned. Charges that are shadows fail no request: the decision of the others is returned, and
    /// [`unchecked_limits`](Decision::unchecked_limits) returns the limits of the shadows. A decision that denies is returned even if the
    /// cluster failed for other charges.
    fn apply(&self, operation: Operation) -> Self::Future;

    /// Acquires charges synchronously, if the store can; otherwise returns them.
    fn acquire_now(&self, charges: Charges) -> Result<Decision, Charges> {
        Err(charges)
    }

    /// The clock on which delayed and waiting requests sleep.
    fn clock(&self) -> &Clock;
}

/// Restricts [`Store`] to the stores of this crate.
pub trait Sealed {}
