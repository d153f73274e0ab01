//! The banner, which shows the configuration at startup.

use std::fmt;

use tollgate::{AnyAlgorithm, RuleSet};

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
        write!(f, "{}{}", self.rules, Notes(self.rules.rules))?;
        write!(f, "{}{}", self.store, self.admin)?;
        if let Some(http) = self.addresses.http {
            let headers = "-H 'X-Forwarded-Method: GET' -H 'X-Forwarded-Uri: /hello'";
            writeln!(f, "\ntry it:\n  curl -i {headers} http://{http}/check")?;
        }
        Ok(())
    }
}

/// Notes on limits that need more than a check.
struct Notes<'a>(&'a RuleSet);

impl fmt::Display for Notes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limits = self.0.limits();
        let mut note = |applies: fn(&AnyAlgorithm) -> bool, note: &str| {
            let named = limits.iter().filter(|limit| applies(limit.algorithm()));
            match named.map(|limit| limit.name()).collect::<Vec<_>>().join(", ") {
                none if none.is_empty() => Ok(()),
                names => writeln!(f, "            note: {note}: {names}"),
            }
        };
        note(
            AnyAlgorithm::is_concurrency,
            "counts only concurrent checks, since the service does not see when a request ends",
        )?;
        note(
            AnyAlgorithm::is_queueing,
            "delays checks, and a proxy that does not wait lets the request pass; set queue = false",
        )
    }
}
