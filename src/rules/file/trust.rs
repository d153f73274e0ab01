//! `[trust]`

use http::HeaderName;

use super::{super::trust::Trust, field::Field, problems::Reported, table::Table};
use crate::extract::{ClientIp, header_name};

const X_FORWARDED_FOR: &str = "x-forwarded-for";
const FORWARDED: &str = "forwarded";

pub(super) fn read(document: &mut Table<'_>) -> Result<Trust, Reported> {
    let Some(field) = document.get("trust") else {
        return Ok(Trust::new(ClientIp::peer(), Vec::new()));
    };
    let mut table = Table::of(&field, "trust".into(), "[trust], in single brackets and only once")?;
    let proxies = table.read("proxies", |proxies| proxies.list(proxy));
    let nobody = proxies
        .as_ref()
        .is_ok_and(|proxies| proxies.as_ref().is_none_or(Vec::is_empty));
    let forwarded = table.read("forwarded", |forwarded| {
        needs_proxies(forwarded, nobody)?;
        forwarded.one_of(&[X_FORWARDED_FOR, FORWARDED])
    });
    let headers = table.read("headers", |headers| {
        let names = headers.list(name)?;
        needs_proxies(headers, nobody && !names.is_empty())?;
        Ok(names)
    });
    table.finish();
    let (proxies, forwarded, headers) = (proxies?.unwrap_or_default(), forwarded?, headers?.unwrap_or_default());
    let client = match forwarded {
        _ if proxies.is_empty() => ClientIp::peer(),
        Some(FORWARDED) => ClientIp::behind(proxies).forwarded(),
        _ => ClientIp::behind(proxies),
    };
    Ok(Trust::new(client, headers))
}

/// Reports what would never be believed.
fn needs_proxies(field: &Field<'_>, nobody: bool) -> Result<(), Reported> {
    let name = &field.name;
    match nobody {
        true => Err(field.is(format_args!(
            "{name} without proxies: say who is believed, like proxies = [\"127.0.0.1/32\"]"
        ))),
        false => Ok(()),
    }
}

/// A proxy, which is left as text once it is known to be one.
fn proxy<'f>(field: &Field<'f>) -> Result<&'f str, Reported> {
    let proxy = field.text()?;
    ClientIp::try_behind([proxy]).map_err(|invalid| field.invalid(&invalid))?;
    Ok(proxy)
}

fn name(field: &Field<'_>) -> Result<HeaderName, Reported> {
    header_name(field.text()?).map_err(|invalid| field.invalid(&invalid))
}

/// `header:NAME`, of a header that clients cannot set themselves. `must` says what will do where it is something else.
pub(super) fn header(field: &Field<'_>, must: &str, trusted: Option<&Trust>) -> Result<HeaderName, Reported> {
    let name = field.text()?.strip_prefix("header:");
    let header = name.and_then(|name| header_name(name).ok());
    let header = header.ok_or_else(|| field.must(must))?;
    match trusted {
        Some(trust) if !trust.guards(&header) => Err(field.must(format_args!(
            "be a header that only proxies may set, or any client would: name it in the headers of [trust], like \
             headers = [\"{header}\"]"
        ))),
        _ => Ok(header),
    }
}
