//! `[[exempt]]`

use super::{
    super::{compiled::Exemption, trust::Trust},
    descriptor,
    diagnostics::Reported,
    field::Field,
    scope,
    table::Table,
};
use crate::extract::{ClientIp, InNetworks};

/// The fields that an exemption of descriptors does not have.
const REQUEST_FIELDS: [&str; 3] = ["path", "methods", "networks"];

pub(super) fn read_all(document: &mut Table<'_>, trust: Option<&Trust>) -> Result<Vec<Exemption>, Reported> {
    let client = trust.map_or_else(ClientIp::peer, |trust| trust.client().clone());
    let all: Vec<_> = document
        .tables("exempt")?
        .into_iter()
        .map(|table| read(table, &client))
        .collect();
    all.into_iter().collect()
}

fn read(mut table: Table<'_>, client: &ClientIp) -> Result<Exemption, Reported> {
    if let Some(pattern) = descriptor::read(&mut table, &REQUEST_FIELDS).transpose() {
        table.finish();
        return pattern.map(Exemption::Descriptors);
    }
    let scope = scope::read(&mut table);
    let networks = table.read("networks", |networks| in_networks(networks, client));
    if table.is_empty() {
        return Err(table.report("it would exempt every request: restrict it by path, methods, networks or descriptor"));
    }
    table.finish();
    let (scope, networks) = (scope?, networks?);
    Ok(Exemption::Requests { scope, networks })
}

fn in_networks(field: &Field<'_>, client: &ClientIp) -> Result<InNetworks, Reported> {
    let networks = field.non_empty_list(|network| {
        let text = network.text()?;
        let parsed = client.clone().try_in_networks([text]);
        parsed.map(|_| text).map_err(|error| network.invalid(&error))
    });
    Ok(client.clone().in_networks(networks?))
}
