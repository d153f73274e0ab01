//! `refund_status` and `settle_json`

use toml::de::DeValue;

use super::{
    super::outcome::{JsonUsage, OutcomeSpec, StatusPattern},
    diagnostics::Reported,
    field::Field,
    table::Table,
};
use crate::algorithm::AnyAlgorithm;

pub(super) fn read(table: &mut Table<'_>, algorithm: Result<AnyAlgorithm, Reported>) -> Result<OutcomeSpec, Reported> {
    let refund = table.read("refund_status", |field| {
        has_effect(field, algorithm)?;
        field.one_or_list(status)
    });
    let usage = table.read("settle_json", |field| {
        has_effect(field, algorithm)?;
        usage(field)
    });
    let (refund, usage) = (refund?.unwrap_or_default(), usage?);
    Ok(OutcomeSpec { refund, usage })
}

/// Reports a field of a concurrency limit, whose slots are released at the end in any case.
fn has_effect(field: &Field<'_>, algorithm: Result<AnyAlgorithm, Reported>) -> Result<(), Reported> {
    match algorithm {
        Ok(algorithm) if algorithm.is_concurrency() => {
            let name = &field.name;
            Err(field.report(format_args!("{name} has no effect on a concurrency limit: remove it")))
        }
        _ => Ok(()),
    }
}

fn status(field: &Field<'_>) -> Result<StatusPattern, Reported> {
    let pattern = match field.value.get_ref() {
        DeValue::String(text) => match &**text {
            "2xx" => Some(StatusPattern::Class(2)),
            "3xx" => Some(StatusPattern::Class(3)),
            "4xx" => Some(StatusPattern::Class(4)),
            "5xx" => Some(StatusPattern::Class(5)),
            digits if digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit()) => parse_status(digits, 10),
            _ => None,
        },
        DeValue::Integer(number) => parse_status(number.as_str(), number.radix()),
        _ => None,
    };
    pattern.ok_or_else(|| field.must("be 2xx, 3xx, 4xx or 5xx in quotes, or a status from 100 to 599"))
}

fn parse_status(digits: &str, radix: u32) -> Option<StatusPattern> {
    let status = u16::from_str_radix(digits, radix).ok()?;
    (100..600).contains(&status).then_some(StatusPattern::Status(status))
}

#[cfg(feature = "axum")]
fn usage(field: &Field<'_>) -> Result<JsonUsage, Reported> {
    let paths = field.one_or_list(|field| {
        let path = field.text()?;
        JsonUsage::try_at([path]).map_err(|error| field.invalid(&error))?;
        Ok(path)
    })?;
    JsonUsage::try_at(paths).map_err(|error| field.invalid(&error))
}

#[cfg(not(feature = "axum"))]
fn usage(field: &Field<'_>) -> Result<JsonUsage, Reported> {
    Err(field.report("settle_json requires the feature axum of tollgate: enable it, or remove settle_json"))
}
