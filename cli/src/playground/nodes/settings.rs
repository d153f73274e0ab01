//! The settings of two nodes, parsed from the page's URL with an error per field.

use std::{collections::BTreeMap, time::Duration};

use serde::Serialize;
use tollgate::{AnyAlgorithm, CallKey, ConfigError, FixedWindow, Micros, Quota, Tier};

use super::action::NodeAction;
use crate::playground::session::{ActionHistory, FieldErrors, Fields, MAX_LEASE};

/// The shortest lease time that is of use, in milliseconds.
const MIN_LEASE: u32 = 10;

#[derive(Clone, Debug, Serialize)]
pub(crate) struct NodesSettings {
    pub(super) limit: u32,
    /// In seconds.
    pub(super) window: u32,
    /// The lease time in milliseconds.
    pub(super) lease: u32,
    /// The requests of a stream per second.
    pub(super) rate: u32,
    #[serde(skip)]
    pub(super) play: ActionHistory<NodeAction>,
    /// The time at which a session resumes. Earlier requests are not sent again.
    #[serde(skip)]
    pub(super) at: Micros,
}

impl NodesSettings {
    /// Parses the URL's query.
    pub(crate) fn parse(query: &BTreeMap<String, String>) -> Result<Self, FieldErrors> {
        let mut fields = Fields::new(query);
        let settings = Self {
            limit: fields.number("limit", 1..=1000, 200),
            window: fields.number("window", 1..=600, 10),
            lease: fields.number("lease", MIN_LEASE..=MAX_LEASE, 1000),
            rate: fields.number("rate", 1..=100, 20),
            play: fields.parsed("play", ActionHistory::default(), |message| message),
            at: fields.time("at"),
        };
        match fields.errors {
            errors if errors.is_empty() => Ok(settings),
            errors => Err(errors),
        }
    }

    /// The limit with the lease. Its windows start with a request, so that a link shows others the same.
    pub(super) fn leased(&self) -> Result<Tier<AnyAlgorithm, CallKey>, ConfigError> {
        self.tier("leased")?.try_lease(Duration::from_millis(self.lease.into()))
    }

    /// The same limit without a lease.
    pub(super) fn unleased(&self) -> Result<Tier<AnyAlgorithm, CallKey>, ConfigError> {
        self.tier("unleased")
    }

    /// The time of a stream's nth request.
    pub(super) fn stream_time(&self, start: Micros, nth: Micros) -> Micros {
        start + nth * 1_000_000 / Micros::from(self.rate)
    }

    fn tier(&self, name: &str) -> Result<Tier<AnyAlgorithm, CallKey>, ConfigError> {
        let quota = Quota::try_new(self.limit, Duration::from_secs(self.window.into()))?;
        let algorithm = FixedWindow::new(quota).anchored();
        Tier::try_new(name, AnyAlgorithm::FixedWindow(algorithm), CallKey)
    }
}
