//! Who names the key of a request.

use super::error::KeyError;
use crate::key::Key;

/// Names whom a request is counted for.
///
/// `Ok(None)` exempts the request from this tier; the others still apply. An error refuses it: see [`KeyError`].
///
/// Implement it for a type of your own where a closure will not do. What clients send belongs into [`Key::named`].
///
/// ```
/// use tollgate::{Key, KeyError, KeyExtractor};
///
/// /// Any request will do, and not only HTTP's.
/// struct Job {
///     queue: &'static str,
/// }
///
/// #[derive(Clone)]
/// struct Queue;
///
/// impl KeyExtractor<Job> for Queue {
///     fn extract(&self, job: &Job) -> Result<Option<Key>, KeyError> {
///         Ok((job.queue != "urgent").then(|| Key::named("queue", job.queue))) // what is urgent is exempt
///     }
/// }
///
/// assert_eq!(Queue.extract(&Job { queue: "mail" })?, Some(Key::new("queue:mail")));
/// assert_eq!(Queue.extract(&Job { queue: "urgent" })?, None);
/// # Ok::<(), KeyError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say whom a `{Req}` is counted for",
    label = "not a key for `{Req}`",
    note = "use `Global`, `Header::new(\"x-user-id\")`, `ClientIp::peer()`, a tuple of such keys, or a closure like \
            `|request: &Request| Some(Key::named(\"user\", id))`",
    note = "a closure has to name the type of its request, and returns a `Key`, an `Option<Key>` or a \
            `Result<Option<Key>, KeyError>`"
)]
pub trait KeyExtractor<Req> {
    /// Whom the request is counted for.
    fn extract(&self, request: &Req) -> Result<Option<Key>, KeyError>;
}
