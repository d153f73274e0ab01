//! What is in force, for whoever started it.

use std::{fmt, net::SocketAddr, path::Path};

use http::uri::Authority;
use tollgate::RuleSet;

use crate::gateway::args::OnStoreFailure;

pub(crate) struct Banner<'a> {
    pub(crate) listening: SocketAddr,
    /// The file, unless they are built in.
    pub(crate) rules: (Option<&'a Path>, &'a RuleSet),
    pub(crate) limited: bool,
    pub(crate) store: Store,
    pub(crate) upstream: &'a Authority,
    pub(crate) is_built_in: bool,
    pub(crate) admin: Option<SocketAddr>,
}

pub(crate) enum Store {
    Memory,
    Redis {
        /// Which, and how it is.
        health: String,
        on_failure: OnStoreFailure,
    },
}

impl fmt::Display for Banner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = format!("http://{}", self.listening);
        writeln!(f, "listening on {at}, a gateway to")?;
        let built_in = if self.is_built_in {
            ", which is built in to try"
        } else {
            ""
        };
        writeln!(f, "  upstream  http://{}{built_in}", self.upstream)?;
        self.rules(f)?;
        writeln!(f, "  store     {}", self.store)?;
        match self.admin {
            None => writeln!(f, "  admin     nowhere: --admin 9090 tells how things stand")?,
            Some(admin) => writeln!(f, "  admin     http://{admin}{}", warning(admin))?,
        }
        writeln!(f, "\ntry it:\n  curl -i {at}/hello")
    }
}

impl Banner<'_> {
    fn rules(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, rules) = self.rules;
        let file = file.map_or_else(|| "built in to try".into(), |file| file.display().to_string());
        if !self.limited {
            return writeln!(
                f,
                "  rules     {file}: says which proxies are trusted, and limits nothing: --no-limits"
            );
        }
        match self.rules.0 {
            Some(_) => writeln!(f, "  rules     {file}, read again whenever it changes")?,
            None => writeln!(f, "  rules     {file}: --rules FILE for your own")?,
        }
        for limit in rules.limits() {
            writeln!(
                f,
                "            {}: {}, {}",
                limit.name(),
                limit.rule().quota(),
                limit.rule().name()
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory, of this gateway alone"),
            Self::Redis { health, on_failure } => {
                let then = match on_failure {
                    OnStoreFailure::Open => "open: requests pass unchecked while it fails",
                    OnStoreFailure::Closed => "closed: requests are refused while it fails",
                    OnStoreFailure::Local => "local: each gateway counts for itself while it fails",
                };
                write!(f, "{health}\n            {then}")
            }
        }
    }
}

fn warning(admin: SocketAddr) -> &'static str {
    match admin.ip().is_loopback() {
        true => "",
        false => ", for everybody who can reach it",
    }
}
