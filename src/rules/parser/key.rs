//! `key`, `default` and `optional`

use super::{
    super::{
        key_spec::{DefaultKey, KeyPart, KeySpec},
        scope::PathPattern,
    },
    diagnostics::Reported,
    field::Field,
    table::Table,
};
use crate::{
    extract::{ApiKey, Cookie, Header, QueryParam},
    key::Key,
};

/// Reads the key of a rule. If the rule has a path, its `route` is that path.
pub(super) fn read(table: &mut Table<'_>, path: Option<&PathPattern>) -> Result<KeySpec, Reported> {
    let key = table.require("key", "key = \"ip\"");
    let parts = key.and_then(|key| key.one_or_list(|field| part(field, path)));
    let default = table.read("default", default_key);
    let has_default = !matches!(default, Ok(None));
    let optional = table.read("optional", |field| match field.flag()? {
        true if has_default => {
            Err(field.must("be false, or there must be no default: a request without the key is counted by that"))
        }
        optional => Ok(optional),
    });
    let (parts, default, optional) = (parts?, default?, optional?.unwrap_or(false));
    Ok(KeySpec {
        parts,
        default,
        optional,
    })
}

fn part(field: &Field<'_>, path: Option<&PathPattern>) -> Result<KeyPart, Reported> {
    let text = field.text()?;
    let check_name = |name: &str, what: &str, invalid: &[char]| match name {
        "" => Err(field.must(format_args!("name {what} after the colon"))),
        name if name.trim() != name || name.contains(invalid) => Err(field.must(format_args!(
            "name {what} after the colon: {name:?} is not a valid name"
        ))),
        _ => Ok(()),
    };
    let invalid_header = |_| field.must("name a header after the colon, like x-user-id");
    Ok(match text.split_once(':') {
        None => match (text, path) {
            ("global", _) => KeyPart::Constant(Key::GLOBAL),
            ("ip", _) => KeyPart::Ip,
            ("route", Some(path)) => KeyPart::Constant(path.key()),
            #[cfg(feature = "axum")]
            ("route", None) => KeyPart::MatchedRoute,
            #[cfg(not(feature = "axum"))]
            ("route", None) => {
                return Err(field.must("be combined with a path: without the axum feature, routes are not matched"));
            }
            ("method", _) => KeyPart::Method,
            _ => return Err(unknown(field)),
        },
        Some(("header", name)) => KeyPart::Header(Header::try_new(name).map_err(invalid_header)?),
        // Hashing the whole header would yield another key for each spelling of its scheme.
        Some(("apikey", name)) if name.eq_ignore_ascii_case("authorization") => KeyPart::ApiKey(ApiKey::bearer()),
        Some(("apikey", name)) => KeyPart::ApiKey(ApiKey::try_header(name).map_err(invalid_header)?),
        Some(("query", name)) => {
            check_name(name, "a query parameter", &[])?;
            KeyPart::Query(QueryParam::new(name))
        }
        Some(("cookie", name)) => {
            check_name(name, "a cookie", &['=', ';'])?;
            KeyPart::Cookie(Cookie::new(name))
        }
        Some(_) => return Err(unknown(field)),
    })
}

fn unknown(field: &Field<'_>) -> Reported {
    field.must("be global, ip, route, method, header:NAME, apikey:NAME, query:NAME or cookie:NAME")
}

fn default_key(field: &Field<'_>) -> Result<DefaultKey, Reported> {
    match field.text()? {
        "" => Err(field.must("be a name for the default key, like anonymous, or ip")),
        "ip" => Ok(DefaultKey::Ip),
        key if key.contains(':') || key.eq_ignore_ascii_case("ip") => Err(field
            .must("be a name for the default key, like anonymous, or ip in lowercase: other keys cannot be a default")),
        name => Ok(DefaultKey::Constant(Key::default_key(name))),
    }
}
