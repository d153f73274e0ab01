//! Corrections of a tier's charge when the response body ends, by what was sent.

mod body_meter;
mod event_stream;
mod json_numbers;
mod json_usage;
mod metered_body;
mod settle_body;

#[cfg(feature = "rules")]
pub(crate) use self::metered_body::settle_at_end;
pub use self::{
    body_meter::{BodyMeter, MeterBody, SentBody},
    json_usage::{JsonUsage, UsageMeter},
    settle_body::{SettleBody, SettleByMeter},
};
