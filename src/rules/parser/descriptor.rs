//! `domain` and `descriptor`

use super::{
    super::descriptor_pattern::{DescriptorPattern, EntryPattern, ValuePattern},
    diagnostics::Reported,
    field::Field,
    table::Table,
};

/// Reads the pattern of descriptors, if the table has one. Its other fields must not be among `request_fields`, which are for HTTP
/// requests.
pub(super) fn read(
    table: &mut Table<'_>,
    request_fields: &[&'static str],
) -> Result<Option<DescriptorPattern>, Reported> {
    let (domain, descriptor) = (table.get("domain"), table.get("descriptor"));
    if domain.is_none() && descriptor.is_none() {
        return Ok(None);
    }
    for name in request_fields {
        if let Some(field) = table.get(name) {
            field.report(format_args!(
                "{name} is for HTTP requests, and has no effect with a descriptor: remove it"
            ));
        }
    }
    let domain = table
        .require("domain", "domain = \"edge\"")
        .and_then(|field| match field.text()? {
            "" => Err(field.must("be the domain that the proxy sends, like edge")),
            domain => Ok(domain),
        });
    let descriptor = table.require("descriptor", "descriptor = [\"tenant\"]");
    let entries = descriptor.and_then(|field| field.non_empty_list(entry));
    Ok(Some(DescriptorPattern {
        domain: domain?.into(),
        entries: entries?,
    }))
}

/// Reads `key`, `key=value` or `key=prefix*`.
fn entry(field: &Field<'_>) -> Result<EntryPattern, Reported> {
    let (key, value) = match field.text()?.split_once('=') {
        None => (field.text()?, ValuePattern::Any),
        Some((_, "")) => return Err(field.must("have a value after the =, or no =, for any value")),
        Some((key, "*")) => return Err(field.must(format_args!("be {key:?}, which matches any value"))),
        Some((key, value)) => match value.strip_suffix('*') {
            Some(prefix) => (key, ValuePattern::Prefix(prefix.into())),
            None => (key, ValuePattern::Exact(value.into())),
        },
    };
    match key {
        "" => Err(field.must("begin with the key of a descriptor entry, like tenant or path=/search")),
        key => Ok(EntryPattern { key: key.into(), value }),
    }
}
