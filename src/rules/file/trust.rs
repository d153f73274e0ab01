//! `[trust]`

use super::{super::trust::Trust, Field, Reported, Table};
use crate::extract::{ClientIp, header_name};

pub(super) fn read(document: &mut Table<'_>) -> Result<Trust, Reported> {
    let Some(field) = document.get("trust") else {
        return Ok(Trust::new(ClientIp::peer(), Vec::new()));
    };
    let mut table = field.table("trust".into(), "[trust]")?;
    let proxies = table.read("proxies", |proxies| proxies.list(proxy));
    let forwarded = table.get("forwarded");
    let headers = table.get("headers");
    let [x_forwarded_for, rfc_7239] = ["x-forwarded-for", "forwarded"];
    let header = forwarded
        .as_ref()
        .map(|field| field.one_of(&[x_forwarded_for, rfc_7239]))
        .transpose();
    let names = headers.as_ref().map(|field| field.list(name)).transpose();
    table.finish()?;

    let (proxies, header, names) = (proxies?.unwrap_or_default(), header?, names?.unwrap_or_default());
    if proxies.is_empty() {
        let alone = [forwarded, headers].into_iter().flatten().map(|field| {
            let name = field.name;
            field.is(format_args!(
                "{name} without proxies: name those who may be believed, like proxies = [\"127.0.0.1/32\"]"
            ))
        });
        return match alone.last() {
            Some(reported) => Err(reported),
            None => Ok(Trust::new(ClientIp::peer(), Vec::new())),
        };
    }
    let client = ClientIp::behind(proxies);
    let client = if header == Some(rfc_7239) {
        client.forwarded()
    } else {
        client
    };
    Ok(Trust::new(client, names))
}

/// A proxy, which is left as text once it is known to be one.
fn proxy<'f>(field: &Field<'f>) -> Result<&'f str, Reported> {
    let proxy = field.text()?;
    ClientIp::try_behind([proxy]).map_err(|invalid| field.invalid(&invalid))?;
    Ok(proxy)
}

fn name(field: &Field<'_>) -> Result<http::HeaderName, Reported> {
    header_name(field.text()?).map_err(|invalid| field.invalid(&invalid))
}
