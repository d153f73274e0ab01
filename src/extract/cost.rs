//! What a request costs.

/// Says what a request costs: how many bytes it brings, how large a batch it is, how hard a query is.
///
/// A closure is one, and it returns a `u64`, or an `Option` of one. `None` leaves the cost as it is, which is 1 unless an
/// earlier step has said otherwise. What costs 0 is told what is left and charged nothing. More than 2<sup>32</sup> - 1 counts
/// as that, which is as much as any limit holds.
///
/// ```
/// use http::Request;
/// use tollgate::CostExtractor;
///
/// // Ten for every page that a search asks for, and as ever where it does not say.
/// let pages = |request: &Request<()>| request.headers().get("x-pages")?.to_str().ok()?.parse::<u64>().ok().map(|n| 10 * n);
/// assert_eq!(pages.cost(&Request::builder().header("x-pages", "3").body(())?), Some(30));
/// assert_eq!(pages.cost(&Request::new(())), None);
/// # Ok::<(), http::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what a `{Req}` costs",
    label = "not a cost of `{Req}`",
    note = "use `ContentLength::or(1)`, or a closure like `|request: &Request| if is_cheap(request) {{ 1 }} else {{ 10 }}`",
    note = "a closure has to name the type of its request, and returns a `u64` or an `Option<u64>`: write `.len() as u64`"
)]
pub trait CostExtractor<Req> {
    /// What the request costs, or `None` to leave that as it is.
    fn cost(&self, request: &Req) -> Option<u64>;
}

/// A closure that has to name the type of its request: `|request: &Request| if is_cheap(request) { 1 } else { 10 }`.
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

/// What a closure may return for a cost: a `u64`, or an `Option` of one where `None` changes nothing.
#[diagnostic::on_unimplemented(
    message = "a cost's closure cannot return `{Self}`",
    note = "return a `u64` or an `Option<u64>`: write `.len() as u64`"
)]
pub trait IntoCost: sealed::Sealed {
    /// As an extractor returns it.
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
    /// Keeps [`IntoCost`](super::IntoCost) to one kind of number, or a literal could be any.
    pub trait Sealed {}

    impl Sealed for u64 {}
    impl Sealed for Option<u64> {}
}
