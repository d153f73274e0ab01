//! The banner, which shows the configuration at startup.

use std::fmt;

use tollgate::RuleSet;

use super::args::Addresses;
use crate::server::banner::{AdminLine, RulesLines, StoreLines};

pub(crate) struct Banner<'a> {
    pub(crate) addresses: Addresses,
    pub(crate) rules: RulesLines<'a>,
    pub(crate) store: StoreLines,
    pub(crate) admin: AdminLine,
}

impl fmt::Display for Banner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "service listening for proxies")?;
        if let Some(grpc) = self.addresses.grpc {
            writeln!(f, "  grpc      {grpc}, for Envoy")?;
        }
        if let Some(http) = self.addresses.http {
            writeln!(f, "  http      http://{http}/check, for nginx, Traefik and Caddy")?;
        }
        write!(f, "{}{}", self.rules, ConcurrencyNote(self.rules.rules))?;
        write!(f, "{}{}", self.store, self.admin)?;
        if let Some(http) = self.addresses.http {
            let headers = "-H 'X-Forwarded-Method: GET' -H 'X-Forwarded-Uri: /hello'";
            writeln!(f, "\ntry it:\n  curl -i {headers} http://{http}/check")?;
        }
        Ok(())
    }
}

/// A note on limits that need to know when a request ends: their slots are released with the response to the check.
struct ConcurrencyNote<'a>(&'a RuleSet);

impl fmt::Display for ConcurrencyNote<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limits = self.0.limits();
        let concurrency = limits.iter().filter(|limit| limit.algorithm().is_concurrency());
        let names: Vec<_> = concurrency.map(|limit| limit.name()).collect();
        if names.is_empty() {
            return Ok(());
        }
        let names = names.join(", ");
        writeln!(
            f,
            "            only for checks at once, since the service does not see when a request ends: {names}"
        )
    }
}
