//! `key` and `default`

use super::{
    super::{
        identity::{Identity, Part, StandIn},
        path::Path,
    },
    field::Field,
    problems::Reported,
    table::Table,
};
use crate::{
    extract::{ApiKey, Cookie, Header, QueryParam},
    key::Key,
};

/// A limit that is counted by its route has its own path for one.
pub(super) fn read(table: &mut Table<'_>, path: Option<&Path>) -> Result<Identity, Reported> {
    let key = table.require("key", "key = \"ip\"");
    let parts = key.and_then(|key| key.one_or_some(|field| part(field, path)));
    let default = table.read("default", stand_in);
    let (parts, default) = (parts?, default?);
    Ok(Identity { parts, default })
}

fn part(field: &Field<'_>, path: Option<&Path>) -> Result<Part, Reported> {
    let text = field.text()?;
    let named = |name: &str, what: &str, cannot: &[char]| match name {
        "" => Err(field.must(format_args!("name {what} after the colon"))),
        name if name.trim() != name || name.contains(cannot) => Err(field.must(format_args!(
            "name {what} after the colon, and {name:?} is the name of none"
        ))),
        _ => Ok(()),
    };
    let no_header = |_| field.must("name a header after the colon, like x-user-id");
    Ok(match text.split_once(':') {
        None => match (text, path) {
            ("global", _) => Part::Constant(Key::GLOBAL),
            ("ip", _) => Part::Ip,
            ("route", Some(path)) => Part::Constant(path.key()),
            #[cfg(feature = "axum")]
            ("route", None) => Part::MatchedRoute,
            #[cfg(not(feature = "axum"))]
            ("route", None) => {
                return Err(field.must("stand beside a path, which is the route: there is no router to ask"));
            }
            ("method", _) => Part::Method,
            _ => return Err(unknown(field)),
        },
        Some(("header", name)) => Part::Header(Header::try_new(name).map_err(no_header)?),
        // Its scheme can be written in many ways, each of which would be another key.
        Some(("apikey", name)) if name.eq_ignore_ascii_case("authorization") => Part::ApiKey(ApiKey::bearer()),
        Some(("apikey", name)) => Part::ApiKey(ApiKey::try_header(name).map_err(no_header)?),
        Some(("query", name)) => {
            named(name, "a query parameter", &[])?;
            Part::Query(QueryParam::new(name))
        }
        Some(("cookie", name)) => {
            named(name, "a cookie", &['=', ';'])?;
            Part::Cookie(Cookie::new(name))
        }
        Some(_) => return Err(unknown(field)),
    })
}

fn unknown(field: &Field<'_>) -> Reported {
    field.must("be global, ip, route, method, header:NAME, apikey:NAME, query:NAME or cookie:NAME")
}

fn stand_in(field: &Field<'_>) -> Result<StandIn, Reported> {
    match field.text()? {
        "" => Err(field.must("be a word that stands in, like anonymous, or ip")),
        "ip" => Ok(StandIn::Ip),
        key if key.contains(':') || key.eq_ignore_ascii_case("ip") => {
            Err(field.must("be a word of your own, like anonymous, or ip in small letters: no other key can stand in"))
        }
        word => Ok(StandIn::Word(Key::stand_in(word))),
    }
}
