//! Requests that are passed on to another service.

use http::Request;

use super::set::RuleSet;
use crate::extract::KeyError;

impl RuleSet {
    /// Makes what a request says of where it came from true, for a proxy that passes it on to a service which trusts that proxy.
    ///
    /// The address of the socket's peer is added to the end of the header that `[trust]` reads: `X-Forwarded-For`, or `Forwarded`.
    /// What was there before stays if the peer is one of the `proxies`, else it is removed, since a client wrote it. The other one
    /// of the two is removed in any case, since proxies that write the one let through what clients wrote in the other.
    /// `X-Real-Ip`, whatever else begins with `X-Forwarded-`, and the `headers` of `[trust]` are removed too, unless one of the
    /// `proxies` sent them; of several lines of one of the `headers`, the last is kept, by which limits count. (Of cookies, all
    /// are.) Names that read like one of these with underscores are removed in any case: many services take `X_Plan` for `X-Plan`.
    ///
    /// A request that is [said to have no address](crate::extract::Unaddressed) is believed nothing, and nothing is added. One that
    /// has none although the service should provide it is left as it is, and is an error.
    ///
    /// Call it inside of the layer, after a request was counted, and after what its `Connection` header names was removed: else a
    /// client could name there what this adds.
    ///
    /// ```
    /// use std::net::SocketAddr;
    /// use http::Request;
    /// use tollgate::RuleSet;
    ///
    /// # let limit = "[[limit]]\nname = \"all\"\nalgorithm = \"token_bucket\"\nlimit = 1\nwindow = \"1s\"\nkey = \"ip\"\n";
    /// # let parse = |text: &str| RuleSet::parse(&format!("{limit}{text}"));
    /// let rules = parse(r#"
    ///     [trust]
    ///     proxies = ["10.0.0.0/8"]
    ///     headers = ["x-plan"]
    /// "#)?;
    /// let from = |peer: [u8; 4]| {
    ///     let request = Request::builder().extension(SocketAddr::from((peer, 4711)));
    ///     request.header("x-forwarded-for", "192.0.2.1").header("x-plan", "pro").body(())
    /// };
    ///
    /// let mut from_a_proxy = from([10, 0, 0, 1])?;
    /// rules.pass_on(&mut from_a_proxy)?;
    /// assert_eq!(from_a_proxy.headers()["x-forwarded-for"], "192.0.2.1, 10.0.0.1");
    /// assert_eq!(from_a_proxy.headers()["x-plan"], "pro");
    ///
    /// let mut from_a_client = from([203, 0, 113, 9])?;
    /// rules.pass_on(&mut from_a_client)?;
    /// assert_eq!(from_a_client.headers()["x-forwarded-for"], "203.0.113.9");
    /// assert!(!from_a_client.headers().contains_key("x-plan"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn pass_on<B>(&self, request: &mut Request<B>) -> Result<(), KeyError> {
        self.in_force().trust.pass_on(request)
    }
}
