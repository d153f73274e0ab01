//! What a lane passes in each window of an overload.

use tollgate::Micros;

use crate::playground::session::{OVERLOAD_WINDOWS, Overload};

#[derive(Debug)]
pub(super) struct Goodput {
    pub(super) overload: Overload,
    passed: [u32; OVERLOAD_WINDOWS],
}

impl Goodput {
    pub(super) fn new(overload: Overload) -> Self {
        let passed = [0; OVERLOAD_WINDOWS];
        Self { overload, passed }
    }

    /// Counts a request that passes at this time.
    pub(super) fn add(&mut self, at: Micros) {
        if let Some(nth) = self.overload.window_at(at) {
            self.passed[nth] += 1;
        }
    }

    /// What has passed in each window that has begun.
    pub(super) fn passed(&self, now: Micros) -> &[u32] {
        let last = self.overload.window_at(now).unwrap_or(OVERLOAD_WINDOWS - 1);
        &self.passed[..=last]
    }
}
