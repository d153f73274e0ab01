//! The trait of all stores.

use std::error::Error;

use crate::{charge::Charges, clock::Clock, decision::Decision, operation::Operation};

/// Keeps the state of limits, and decides about charges.
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
///
/// # Stores of your own
/// Implement it for a database that has transactions. [`Operation::apply_to`] does the arithmetic; the store loads and stores the
/// states, each under its limit and key. The example `sqlite` is a store that several processes share, and the package
/// `tollgate-conformance` tests any store.
///
/// ```
/// use std::{collections::HashMap, convert::Infallible, future::{Ready, ready}, sync::{Arc, Mutex}};
/// use tollgate::{Charge, Clock, Decision, Global, Operation, Quota, RateLimitLayer, State, Store};
///
/// #[derive(Clone, Default)]
/// struct Table {
///     rows: Arc<Mutex<HashMap<String, State>>>,
///     clock: Clock,
/// }
///
/// impl Store for Table {
///     type Error = Infallible;
///     type Future = Ready<Result<Decision, Infallible>>;
///
///     fn apply(&self, operation: Operation) -> Self::Future {
///         let mut rows = self.rows.lock().unwrap(); // the transaction
///         let name = |charge: &Charge| format!("{}:{}", charge.limit(), charge.key().as_str());
///         let names: Vec<String> = operation.charges().map(name).collect();
///         let mut states: Vec<State> = names.iter().map(|name| rows.get(name).cloned().unwrap_or_default()).collect();
///         let decision = operation.apply_to(&mut states, self.clock.now());
///         rows.extend(names.into_iter().zip(states)); // `Algorithm::expires_at` says when a row may be removed
///         ready(Ok(decision))
///     }
///
///     fn clock(&self) -> &Clock {
///         &self.clock
///     }
/// }
///
/// let layer = RateLimitLayer::token_bucket("all", Quota::per_second(100), Global, Table::default());
/// # let _: axum::Router = axum::Router::new().layer(layer);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a store",
    note = "use `MemoryStore::new()` for one node, `RedisStore::connect(url)?` for many, or implement `Store` for a database of your own"
)]
pub trait Store: Clone + Send + Sync + 'static {
    /// The error if it cannot decide.
    type Error: Into<Box<dyn Error + Send + Sync>>;
    /// The future of a decision.
    type Future: Future<Output = Result<Decision, Self::Error>> + Send + Unpin + 'static;

    /// Applies an operation in one atomic step, and returns the decision.
    ///
    /// An operation whose outcome is unknown, because a connection was lost, must not be applied again. The store bounds how long it takes.
    /// Refunds of dropped requests may be applied outside of a runtime.
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
