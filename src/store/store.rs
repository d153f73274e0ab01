//! What a store does.

use std::error::Error;

use super::sealed::Sealed;
use crate::{charge::Charges, clock::Clock, decision::Decision, operation::Operation};

/// Keeps what has been used, and decides. It is sealed: what a store must be told of a charge may still grow.
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
    /// Why it could not decide.
    type Error: Into<Box<dyn Error + Send + Sync>>;
    /// The decision to come.
    type Future: Future<Output = Result<Decision, Self::Error>> + Send + Unpin + 'static;

    /// Does what the operation says in one atomic step, and tells what came of it.
    fn apply(&self, operation: Operation) -> Self::Future;

    /// Takes charges at once, if it is a store that need not be waited for; any other gives them back.
    fn acquire_now(&self, charges: Charges) -> Result<Decision, Charges> {
        Err(charges)
    }

    /// The clock that requests which are held back wait on.
    fn clock(&self) -> &Clock;
}
