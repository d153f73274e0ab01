//! Who stands between a decision and a kind of service.

use super::Rejection;
use crate::decision::Decision;

/// Tells requests what has been decided about them.
///
/// Most want [`HttpAnswers`](crate::HttpAnswers), or a closure that makes a response of a [`Rejection`]. Implement it where
/// both are not enough: for another protocol, or to remember something of the request until it is answered.
///
/// ```
/// use tollgate::{Decision, Key, MemoryStore, Quota, RateLimitLayer, Rejection, Respond};
/// use tower::{BoxError, ServiceBuilder, ServiceExt, service_fn};
///
/// #[derive(Clone)]
/// struct Chat;
///
/// impl Respond<String, String, BoxError> for Chat {
///     type Context = usize;
///
///     fn context(&self, line: &String) -> usize {
///         line.len()
///     }
///
///     fn reject(&self, length: usize, why: Rejection) -> Result<String, BoxError> {
///         Ok(format!("not sent, {length} letters: {why}"))
///     }
///
///     fn admit(&self, _: usize, decision: &Decision, answer: &mut String) {
///         *answer += &format!(" ({} left)", decision.tiers()[0].verdict().remaining());
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), BoxError> {
/// let author = |line: &String| Key::named("author", line.split(':').next().unwrap_or_default());
/// let chat = ServiceBuilder::new()
///     .layer(RateLimitLayer::sliding_log("lines", Quota::per_day(1), author, MemoryStore::new()).respond_with(Chat))
///     .service(service_fn(async |_: String| Ok::<_, BoxError>("sent".to_owned())));
/// assert_eq!(chat.clone().oneshot("ann: hi".into()).await?, "sent (0 left)");
/// assert!(chat.oneshot("ann: hi".into()).await?.starts_with("not sent, 7 letters: Too many requests."));
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot answer a `{Req}` with a `{Res}`",
    note = "`HttpAnswers`, the default, answers HTTP requests whose response's body can be made from a `String`",
    note = "for tonic's own server, use `.respond_with(GrpcAnswers::new())`",
    note = "for other services, use `.respond_with(AsError)` or a closure that makes a response: `.respond_with(|why: Rejection| ..)`"
)]
pub trait Respond<Req, Res, E> {
    /// What it has to remember of a request until it is answered.
    type Context;

    /// Looks at a request before it is gone.
    fn context(&self, request: &Req) -> Self::Context;

    /// Tells an admitted request what has been decided, before the inner service sees it.
    fn forward(&self, decision: &Decision, request: &mut Req) {
        let _ = (decision, request);
    }

    /// Answers a request that the inner service never sees.
    fn reject(&self, context: Self::Context, why: Rejection) -> Result<Res, E>;

    /// Adds to the response of an admitted request.
    fn admit(&self, context: Self::Context, decision: &Decision, response: &mut Res) {
        let _ = (context, decision, response);
    }
}

/// A closure that makes the response to refused requests, whatever the reason, and leaves admitted ones alone: they carry
/// no headers of ours, and handlers find no [`Decision`]. To change less, see [`HttpAnswers`](crate::HttpAnswers).
#[diagnostic::do_not_recommend]
impl<Req, Res, E, F> Respond<Req, Res, E> for F
where
    F: Fn(Rejection) -> Res,
{
    type Context = ();

    fn context(&self, _: &Req) {}

    fn reject(&self, (): (), why: Rejection) -> Result<Res, E> {
        Ok(self(why))
    }
}
