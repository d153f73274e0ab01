//! The banner, which shows the configuration at startup.

use std::{fmt, net::SocketAddr, path::Path};

use http::uri::Authority;
use tollgate::RuleSet;

use super::args::OnStoreFailure;
use crate::common::limit_summary::rules_summary;

pub(crate) struct Banner<'a> {
    pub(crate) listen: SocketAddr,
    /// `None` for the built-in rules.
    pub(crate) rules_file: Option<&'a Path>,
    pub(crate) rules: &'a RuleSet,
    pub(crate) has_limits: bool,
    pub(crate) store: StoreLine,
    pub(crate) upstream: &'a Authority,
    pub(crate) is_built_in: bool,
    pub(crate) admin: Option<SocketAddr>,
}

pub(crate) enum StoreLine {
    Memory,
    Redis {
        /// The address and its state.
        health: String,
        on_failure: OnStoreFailure,
    },
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
        self.rules(f)?;
        writeln!(f, "  store     {}", self.store)?;
        match self.admin {
            None => writeln!(f, "  admin     disabled; enable it with --admin 9090")?,
            Some(admin) => writeln!(f, "  admin     http://{admin}{}", warning(admin))?,
        }
        writeln!(f, "\ntry it:\n  curl -i {url}/hello")
    }
}

impl Banner<'_> {
    fn rules(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self
            .rules_file
            .map_or_else(|| "built-in sample".into(), |file| file.display().to_string());
        if !self.has_limits {
            return writeln!(f, "  rules     {file}; only [trust] applies because of --no-limits");
        }
        match self.rules_file {
            Some(_) => writeln!(f, "  rules     {file}, reloaded when it changes")?,
            None => writeln!(f, "  rules     {file}; use your own with --rules FILE")?,
        }
        for (name, summary) in rules_summary(self.rules) {
            writeln!(f, "            {name}: {summary}")?;
        }
        Ok(())
    }
}

impl fmt::Display for StoreLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory of this process"),
            Self::Redis { health, on_failure } => {
                let mode = match on_failure {
                    OnStoreFailure::Open => "open: requests are forwarded unchecked while it fails",
                    OnStoreFailure::Closed => "closed: requests are rejected while it fails",
                    OnStoreFailure::Local => "local: each gateway counts in memory while it fails",
                };
                write!(f, "{health}\n            {mode}")
            }
        }
    }
}

fn warning(admin: SocketAddr) -> &'static str {
    match admin.ip().is_loopback() {
        true => "",
        false => ", reachable from other machines without authentication",
    }
}
