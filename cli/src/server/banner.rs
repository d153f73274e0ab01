//! The lines about rules, store and admin address that all banners have.

use std::{fmt, net::SocketAddr, path::Path};

use tollgate::{NodeHealth, RuleSet};

use super::{args::OnStoreFailure, store::ServerStore};
use crate::common::limit_summary::rules_summary;

/// The rules file and its limits.
pub(crate) struct RulesLines<'a> {
    /// `None` for the built-in rules.
    pub(crate) file: Option<&'a Path>,
    pub(crate) rules: &'a RuleSet,
}

impl RulesLines<'_> {
    /// The name of the file.
    pub(crate) fn name(&self) -> String {
        let file = self.file.map(|file| file.display().to_string());
        file.unwrap_or_else(|| "built-in sample".into())
    }
}

impl fmt::Display for RulesLines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        match self.file {
            Some(_) => writeln!(f, "  rules     {name}, reloaded when it changes")?,
            None => writeln!(f, "  rules     {name}; use your own with --rules FILE")?,
        }
        for (name, summary) in rules_summary(self.rules) {
            writeln!(f, "            {name}: {summary}")?;
        }
        Ok(())
    }
}

pub(crate) enum StoreLines {
    Memory,
    Redis {
        /// The address and its state.
        health: String,
        on_failure: OnStoreFailure,
    },
}

impl StoreLines {
    /// Calls Redis once, so that the banner and the log show a wrong address. A server starts without Redis too.
    pub(crate) async fn check(store: &ServerStore) -> Self {
        let (Some(redis), Some(on_failure)) = (store.redis(), store.on_failure()) else {
            return Self::Memory;
        };
        let health = match redis.check().await {
            Ok(()) => redis.health().to_string(),
            Err(why) => {
                match why.is_transient() {
                    true => {
                        tracing::warn!(target: "tollgate::server", %why, "Redis cannot be used at the start; the failure mode decides until it can");
                    }
                    false => {
                        tracing::error!(target: "tollgate::server", %why, "Redis cannot be used at the start; the failure mode decides until the configuration is fixed");
                    }
                }
                let health = redis.health();
                let addresses: Vec<_> = health.nodes().iter().map(NodeHealth::address).collect();
                format!("{}: Redis is unavailable: {why}", addresses.join(", "))
            }
        };
        Self::Redis { health, on_failure }
    }
}

impl fmt::Display for StoreLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => writeln!(f, "  store     memory of this process"),
            Self::Redis { health, on_failure } => writeln!(f, "  store     {health}\n            {on_failure}"),
        }
    }
}

pub(crate) struct AdminLine(pub(crate) Option<SocketAddr>);

impl fmt::Display for AdminLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => writeln!(f, "  admin     disabled; enable it with --admin 9090"),
            Some(admin) if admin.ip().is_loopback() => writeln!(f, "  admin     http://{admin}"),
            Some(admin) => writeln!(
                f,
                "  admin     http://{admin}, reachable from other machines without authentication"
            ),
        }
    }
}
