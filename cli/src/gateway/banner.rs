//! The banner, which shows the configuration at startup.

use std::{fmt, net::SocketAddr};

use http::uri::Authority;

use crate::server::banner::{AdminLine, RulesLines, StoreLines};

pub(crate) struct Banner<'a> {
    pub(crate) listen: SocketAddr,
    pub(crate) rules: RulesLines<'a>,
    pub(crate) has_limits: bool,
    pub(crate) store: StoreLines,
    pub(crate) upstream: &'a Authority,
    pub(crate) is_built_in: bool,
    pub(crate) admin: AdminLine,
}

impl fmt::Display for Banner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = format!("http://{}", self.listen);
        writeln!(f, "gateway listening on {url}")?;
        let built_in = if self.is_built_in {
            ", a built-in echo service"
        } else {
            ""
        };
        writeln!(f, "  upstream  http://{}{built_in}", self.upstream)?;
        match self.has_limits {
            true => self.rules.fmt(f)?,
            false => {
                let rules = self.rules.name();
                writeln!(f, "  rules     {rules}; only [trust] applies because of --no-limits")?;
            }
        }
        write!(f, "{}{}", self.store, self.admin)?;
        writeln!(f, "\ntry it:\n  curl -i {url}/hello")
    }
}
