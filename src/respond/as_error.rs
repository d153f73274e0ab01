//! Rejections as errors, for services without a rejection response.

use super::{Rejection, Respond};

/// Rejects with an error: the inner service's error type, converted from a [`Rejection`].
///
/// ```
/// use tollgate::{AsError, Global, MemoryStore, Quota, RateLimitLayer, Rejection};
/// use tower::{BoxError, ServiceBuilder, ServiceExt, service_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let jobs = ServiceBuilder::new()
///     .layer(RateLimitLayer::fixed_window("jobs", Quota::per_hour(1), Global, MemoryStore::new()).respond_with(AsError))
///     .service(service_fn(async |job: u32| Ok::<_, BoxError>(job * 2)));
///
/// assert_eq!(jobs.clone().oneshot(21).await.unwrap(), 42);
/// let error = jobs.oneshot(21).await.unwrap_err();
/// assert!(matches!(error.downcast_ref(), Some(Rejection::Limited(_))));
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AsError;

impl<Req, Res, E: From<Rejection>> Respond<Req, Res, E> for AsError {
    type Context = ();

    fn context(&self, _: &Req) {}

    fn reject(&self, (): (), rejection: Rejection) -> Result<Res, E> {
        Err(rejection.into())
    }
}
