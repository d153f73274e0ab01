//! The options of a tier that settle when the response body ends.

use std::fmt;

use axum::body::Body;
use http::Response;

use super::{
    super::{options::TierOptions, policy::Sealed, settlement::TierSettlement},
    body_meter::{BodyMeter, MeterBody, SentBody},
    metered_body::settle_at_end,
};
use crate::extract::IntoCost;

/// Corrects a tier's charge to the cost that a closure returns when the response body ends.
#[derive(Clone)]
pub struct SettleBody<F>(pub(in crate::policy) F);

impl<F> Sealed for SettleBody<F> {}

impl<Req, F, C> TierOptions<Req, Response<Body>> for SettleBody<F>
where
    F: Fn(&SentBody) -> C + Clone + Send + 'static,
    C: IntoCost,
{
    fn may_settle(&self) -> bool {
        true
    }

    fn settle_at_end(&self, response: &mut Response<Body>, settlement: &mut TierSettlement<'_, '_>) {
        settle_at_end(response, settlement, |_| ByClosure(self.0.clone()));
    }
}

/// A closure as a meter that reads nothing. An early end only raises the charge: otherwise a client could read all but the last byte
/// at the price of the estimate, or get a refund for what the service produced in vain.
struct ByClosure<F>(F);

impl<F, C> BodyMeter for ByClosure<F>
where
    F: Fn(&SentBody) -> C + Send + 'static,
    C: IntoCost,
{
    fn read(&mut self, _: &[u8]) {}

    fn cost(&self, sent: &SentBody) -> Option<u64> {
        let cost = (self.0)(sent).into_cost()?;
        Some(if sent.is_complete() {
            cost
        } else {
            cost.max(sent.charged())
        })
    }
}

/// Corrects a tier's charge to the cost that a [meter](BodyMeter) returns when the response body ends.
#[derive(Clone)]
pub struct SettleByMeter<M>(pub(in crate::policy) M);

impl<M> Sealed for SettleByMeter<M> {}

impl<Req, M: MeterBody> TierOptions<Req, Response<Body>> for SettleByMeter<M> {
    fn may_settle(&self) -> bool {
        true
    }

    fn reads_body(&self) -> bool {
        true
    }

    fn settle_at_end(&self, response: &mut Response<Body>, settlement: &mut TierSettlement<'_, '_>) {
        settle_at_end(response, settlement, |response| self.0.meter(response));
    }
}

impl<F> fmt::Debug for SettleBody<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SettleBody").finish_non_exhaustive()
    }
}

impl<M> fmt::Debug for SettleByMeter<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SettleByMeter").finish_non_exhaustive()
    }
}
