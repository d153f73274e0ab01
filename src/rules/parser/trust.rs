//! `[trust]`

use http::HeaderName;

use super::{super::trust::Trust, diagnostics::Reported, field::Field, table::Table};
use crate::extract::{ClientIp, header_name};

const X_FORWARDED_FOR: &str = "x-forwarded-for";
const FORWARDED: &str = "forwarded";

pub(super) fn read(document: &mut Table<'_>) -> Result<Trust, Reported> {
    let Some(field) = document.get("trust") else {
        return Ok(Trust::new(ClientIp::peer(), Vec::new()));
    };
    let mut table = Table::of(&field, "trust".into(), "[trust], in single brackets and only once")?;
    let proxies = table.read("proxies", |proxies| proxies.list(proxy));
    let has_no_proxies = proxies
        .as_ref()
        .is_ok_and(|proxies| proxies.as_ref().is_none_or(Vec::is_empty));
    let forwarded = table.read("forwarded", |forwarded| {
        needs_proxies(forwarded, has_no_proxies)?;
        forwarded.one_of(&[X_FORWARDED_FOR, FORWARDED])
    });
    let headers = table.read("headers", |headers| {
        let names = headers.list(name)?;
        needs_proxies(headers, has_no_proxies && !names.is_empty())?;
        Ok(names)
    });
    table.finish();
    let (proxies, forwarded, headers) = (proxies?.unwrap_or_default(), forwarded?, headers?.unwrap_or_default());
    let client = match forwarded {
        _ if proxies.is_empty() => ClientIp::peer(),
        Some(FORWARDED) => ClientIp::trusted_proxies(proxies).forwarded(),
        _ => ClientIp::trusted_proxies(proxies),
    };
    Ok(Trust::new(client, headers))
}

/// Reports a field that has no effect without trusted proxies.
fn needs_proxies(field: &Field<'_>, has_no_proxies: bool) -> Result<(), Reported> {
    let name = &field.name;
    match has_no_proxies {
        true => Err(field.report(format_args!(
            "{name} without proxies: name the trusted proxies, like proxies = [\"127.0.0.1/32\"]"
        ))),
        false => Ok(()),
    }
}

/// The text of a valid network or address.
fn proxy<'f>(field: &Field<'f>) -> Result<&'f str, Reported> {
    let proxy = field.text()?;
    ClientIp::try_trusted_proxies([proxy]).map_err(|error| field.invalid(&error))?;
    Ok(proxy)
}

fn name(field: &Field<'_>) -> Result<HeaderName, Reported> {
    header_name(field.text()?).map_err(|error| field.invalid(&error))
}

/// Reads `header:NAME`, where the header is one that clients cannot set. `must` describes the valid values.
pub(super) fn header(field: &Field<'_>, must: &str, trusted: Option<&Trust>) -> Result<HeaderName, Reported> {
    let name = field.text()?.strip_prefix("header:");
    let header = name.and_then(|name| header_name(name).ok());
    let header = header.ok_or_else(|| field.must(must))?;
    match trusted {
        Some(trust) if !trust.is_protected(&header) => Err(field.must(format_args!(
            "be a header that only trusted proxies may set: add it to the headers of [trust], like headers = [\"{header}\"]"
        ))),
        _ => Ok(header),
    }
}
