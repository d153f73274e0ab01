//! The trait of responders.

use super::Rejection;
use crate::{decision::Decision, permit::Permit};

/// Turns decisions into responses.
///
/// Use [`HttpResponder`](crate::HttpResponder), or a closure that returns a response for a [`Rejection`]. Implement the trait
/// where neither is enough: for another protocol, or to keep data of the request until the response.
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
///     fn reject(&self, length: usize, rejection: Rejection) -> Result<String, BoxError> {
///         Ok(format!("not sent, {length} letters: {rejection}"))
///     }
///
///     fn admit(&self, _: usize, decision: &Decision, response: &mut String) {
///         *response += &format!(" ({} left)", decision.tiers()[0].verdict().remaining());
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
    message = "`{Self}` cannot respond to a `{Req}` with a `{Res}`",
    note = "`HttpResponder`, the default, responds to HTTP requests, with any body that implements `From<String>`; for other \
            bodies, use `.respond_with(HttpResponder::new().map_body(|text| ..))`",
    note = "for tonic's own server, use `.respond_with(GrpcResponder::new())`",
    note = "for other services, use `.respond_with(AsError)` or a closure that returns a response: \
            `.respond_with(|rejection: Rejection| ..)`"
)]
pub trait Respond<Req, Res, E> {
    /// Data of the request that the response needs.
    type Context;

    /// Reads the context from a request, before the inner service consumes it.
    fn context(&self, request: &Req) -> Self::Context;

    /// Adds the decision to an admitted request, before the inner service is called.
    fn forward(&self, decision: &Decision, request: &mut Req) {
        let _ = (decision, request);
    }

    /// Adds the permit to a request that holds slots of concurrency limits, for an inner service that has to hold them for longer than
    /// [`hold`](Self::hold) does.
    fn forward_permit(&self, permit: &Permit, request: &mut Req) {
        let _ = (permit, request);
    }

    /// Responds to a rejected request, for which the inner service is not called.
    fn reject(&self, context: Self::Context, rejection: Rejection) -> Result<Res, E>;

    /// Adds the decision to the response of an admitted request.
    fn admit(&self, context: Self::Context, decision: &Decision, response: &mut Res) {
        let _ = (context, decision, response);
    }

    /// Holds the slots of a request until its response has been sent, if that is later than now. By default they are released with the
    /// response.
    fn hold(&self, permit: Permit, response: &mut Res) {
        let _ = (permit, response);
    }
}

/// A closure returns the response to rejected requests of every kind. Responses to admitted requests are unchanged: they carry
/// no rate limit headers, and handlers cannot extract a [`Decision`]. To keep both, configure a
/// [`HttpResponder`](crate::HttpResponder).
#[diagnostic::do_not_recommend]
impl<Req, Res, E, F> Respond<Req, Res, E> for F
where
    F: Fn(Rejection) -> Res,
{
    type Context = ();

    fn context(&self, _: &Req) {}

    fn reject(&self, (): (), rejection: Rejection) -> Result<Res, E> {
        Ok(self(rejection))
    }
}
