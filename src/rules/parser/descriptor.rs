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
    let text = field.text()?;
    let (key, value) = match text.split_once('=') {
        None => (text, None),
        Some((key, value)) => (key, Some(value)),
    };
    if key.trim() != key || value.is_some_and(|value| value.trim() != value) {
        return Err(field.must("have no spaces around the key and the value"));
    }
    if key.is_empty() {
        return Err(field.must("begin with the key of a descriptor entry, like tenant or path=/search"));
    }
    let prefix = value.map(|value| value.strip_suffix('*').unwrap_or(value));
    if prefix.is_some_and(|prefix| prefix.contains('*')) {
        return Err(field.must("have an asterisk only at the end, like path=/api/*"));
    }
    let value = match value {
        None => ValuePattern::Any,
        Some("") => return Err(field.must("have a value after the =, or no =, for any value")),
        Some("*") => return Err(field.must(format_args!("be {key:?}, which matches any value"))),
        Some(value) => match value.strip_suffix('*') {
            Some(prefix) => ValuePattern::Prefix(prefix.into()),
            None => ValuePattern::Exact(value.into()),
        },
    };
    let key = key.into();
    Ok(EntryPattern { key, value })
}
