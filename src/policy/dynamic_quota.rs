//! Quotas per request: by plan, tenant or time of day.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{options::TierOptions, policy::Sealed};
use crate::{charge::Charge, config_error::ConfigError, limit::Limit, quota::Quota, time::Micros};

/// The maximal number of cached quotas. Plans are a handful; a closure that computes a quota per user must not fill the memory.
const MAX_CACHED_QUOTAS: usize = 256;

/// The limit with each quota seen so far, by its lease time.
type Versions = HashMap<(Quota, Option<Micros>), Limit>;

/// Sets a tier's quota per request. `None` keeps the tier's own.
pub struct DynamicQuota<F> {
    quota: F,
    /// Clones share it.
    versions: Arc<RwLock<Versions>>,
    /// Whether an invalid quota has been logged.
    wrong: Arc<AtomicBool>,
}

impl<F> DynamicQuota<F> {
    pub(super) fn new(quota: F) -> Self {
        Self {
            quota,
            versions: Arc::default(),
            wrong: Arc::default(),
        }
    }

    /// The tier's limit with another quota.
    fn version(&self, limit: &Limit, quota: Quota) -> Result<Limit, ConfigError> {
        let version = (quota, limit.configured_lease());
        let versions = self.versions.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(limit) = versions.get(&version) {
            return Ok(limit.clone());
        }
        let full = versions.len() >= MAX_CACHED_QUOTAS;
        drop(versions);
        let limit = limit.with_algorithm(limit.unleased_algorithm().try_quota(quota)?);
        if !full {
            let mut versions = self.versions.write().unwrap_or_else(PoisonError::into_inner);
            versions.insert(version, limit.clone());
        }
        Ok(limit)
    }
}

impl<F> Sealed for DynamicQuota<F> {}

impl<Req, Res, F, Q> TierOptions<Req, Res> for DynamicQuota<F>
where
    F: Fn(&Req) -> Q,
    Q: Into<Option<Quota>>,
{
    fn adjust(&self, request: &Req, charge: &mut Charge) {
        let Some(quota) = (self.quota)(request).into() else {
            return;
        };
        match self.version(&charge.limit, quota) {
            Ok(limit) => charge.limit = limit,
            Err(error) => {
                let limit = charge.limit.name();
                if !self.wrong.swap(true, Ordering::Relaxed) {
                    tracing::error!(target: "tollgate::decision", limit, %quota, %error, "invalid per-request quota: the tier keeps its own");
                }
            }
        }
    }
}

impl<F: Clone> Clone for DynamicQuota<F> {
    fn clone(&self) -> Self {
        Self {
            quota: self.quota.clone(),
            versions: Arc::clone(&self.versions),
            wrong: Arc::clone(&self.wrong),
        }
    }
}

impl<F> fmt::Debug for DynamicQuota<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynamicQuota").finish_non_exhaustive()
    }
}
