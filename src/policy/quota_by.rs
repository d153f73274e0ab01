//! A quota by request: plans, tenants, times of day.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{Bill, Policy, sealed::Sealed};
use crate::{invalid::Invalid, limit::Limit, quota::Quota};

/// How many quotas are kept ready. Plans are a handful; what computes a quota per user must not fill the memory.
const KEPT: usize = 256;

/// Gives a tier another quota, by request. `None` leaves it the one it has.
pub struct QuotaBy<F> {
    limit: Limit,
    quota: F,
    /// The limit under each quota that has come up. Clones share it.
    versions: Arc<RwLock<HashMap<Quota, Limit>>>,
    /// Whether it has been said that a quota is wrong.
    wrong: Arc<AtomicBool>,
}

impl<F> QuotaBy<F> {
    /// The quota that `quota` says, for the tier of this limit.
    pub(crate) fn new(limit: Limit, quota: F) -> Self {
        Self {
            limit,
            quota,
            versions: Arc::default(),
            wrong: Arc::default(),
        }
    }

    fn version(&self, quota: Quota) -> Result<Limit, Invalid> {
        let versions = self.versions.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(limit) = versions.get(&quota) {
            return Ok(limit.clone());
        }
        let full = versions.len() >= KEPT;
        drop(versions);
        let limit = self.limit.version(self.limit.rule().try_quota(quota)?);
        if !full {
            let mut versions = self.versions.write().unwrap_or_else(PoisonError::into_inner);
            versions.insert(quota, limit.clone());
        }
        Ok(limit)
    }
}

impl<F> Sealed for QuotaBy<F> {}

impl<Req, Res, F, Q> Policy<Req, Res> for QuotaBy<F>
where
    F: Fn(&Req) -> Q,
    Q: Into<Option<Quota>>,
{
    fn bill(&self, request: &Req, bill: &mut Bill) {
        let Some(charge) = bill.tier(self.limit.name()) else {
            return;
        };
        let Some(quota) = (self.quota)(request).into() else {
            return;
        };
        match self.version(quota) {
            Ok(limit) => charge.limit = limit,
            Err(error) => {
                let limit = self.limit.name();
                if !self.wrong.swap(true, Ordering::Relaxed) {
                    tracing::error!(limit, %quota, %error, "a quota by request cannot work: the tier keeps its own");
                }
            }
        }
    }
}

impl<F: Clone> Clone for QuotaBy<F> {
    fn clone(&self) -> Self {
        Self {
            limit: self.limit.clone(),
            quota: self.quota.clone(),
            versions: Arc::clone(&self.versions),
            wrong: Arc::clone(&self.wrong),
        }
    }
}

impl<F> fmt::Debug for QuotaBy<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QuotaBy")
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
