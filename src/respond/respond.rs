//! Who stands between a decision and a kind of service.

use super::Rejection;
use crate::decision::Decision;

/// Tells requests what has been decided about them.
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
