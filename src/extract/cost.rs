//! Cost extractors for any kind of request.

use crate::quota::QuotaUnit;

/// Extracts the cost of a request: the size of its body, of its batch or of its query.
///
/// A closure returns a `u64` or an `Option<u64>`. `None` leaves the cost unchanged, which is 1 unless an earlier cost extractor
/// has set it. A request that costs 0 is charged nothing, and its response still carries the remaining quota. A cost above
/// 2<sup>32</sup> - 1, the largest capacity of a limit, counts as 2<sup>32</sup> - 1.
///
/// ```
/// use http::Request;
/// use tollgate::CostExtractor;
///
/// // Ten per page that a search requests, and the default without the header.
/// let pages = |request: &Request<()>| request.headers().get("x-pages")?.to_str().ok()?.parse::<u64>().ok().map(|n| 10 * n);
/// assert_eq!(pages.cost(&Request::builder().header("x-pages", "3").body(())?), Some(30));
/// assert_eq!(pages.cost(&Request::new(())), None);
/// # Ok::<(), http::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a cost extractor for `{Req}`",
    label = "not a cost extractor for `{Req}`",
    note = "use `ContentLength::or(1)`, or a closure like `|request: &Request| if is_cheap(request) {{ 1 }} else {{ 10 }}`",
    note = "a closure has to name the type of its request, and returns a `u64` or an `Option<u64>`: write `.len() as u64`"
)]
pub trait CostExtractor<Req> {
    /// The cost of the request, or `None` to leave it unchanged.
    fn cost(&self, request: &Req) -> Option<u64>;

    /// What the cost counts, for clients; `None` for requests.
    fn unit(&self) -> Option<QuotaUnit> {
        None
    }
}

/// A closure, which has to name the type of its request: `|request: &Request| if is_cheap(request) { 1 } else { 10 }`.
#[diagnostic::do_not_recommend]
impl<Req, F, C> CostExtractor<Req> for F
where
    F: Fn(&Req) -> C,
    C: IntoCost,
{
    fn cost(&self, request: &Req) -> Option<u64> {
        self(request).into_cost()
    }
}

/// Return types of closures that extract costs: a `u64`, or an `Option<u64>` where `None` changes nothing.
#[diagnostic::on_unimplemented(
    message = "a closure that extracts a cost cannot return `{Self}`",
    note = "return a `u64` or an `Option<u64>`: write `.len() as u64`"
)]
pub trait IntoCost: sealed::Sealed {
    /// Converts to the return type of [`CostExtractor::cost`].
    fn into_cost(self) -> Option<u64>;
}

impl IntoCost for u64 {
    fn into_cost(self) -> Option<u64> {
        Some(self)
    }
}

impl IntoCost for Option<u64> {
    fn into_cost(self) -> Option<u64> {
        self
    }
}

mod sealed {
    /// Restricts [`IntoCost`](super::IntoCost) to one integer type, so that the type of a literal can be inferred.
    pub trait Sealed {}

    impl Sealed for u64 {}
    impl Sealed for Option<u64> {}
}
