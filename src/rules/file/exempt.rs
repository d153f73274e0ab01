//! `[[exempt]]`

use super::{
    super::{in_force::Exemption, trust::Trust},
    field::Field,
    problems::Reported,
    scope,
    table::Table,
};
use crate::extract::{ClientIp, Within};

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
    let scope = scope::read(&mut table);
    let networks = table.read("networks", |networks| within(networks, client));
    if table.is_empty() {
        return Err(table.lacks("it would exempt every request: say which by path, methods or networks"));
    }
    table.finish();
    let (scope, networks) = (scope?, networks?);
    Ok(Exemption { scope, networks })
}

fn within(field: &Field<'_>, client: &ClientIp) -> Result<Within, Reported> {
    let networks = field.some(|network| {
        let text = network.text()?;
        let alone = client.clone().try_within([text]);
        alone.map(|_| text).map_err(|invalid| network.invalid(&invalid))
    });
    Ok(client.clone().within(networks?))
}
