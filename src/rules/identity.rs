//! Whom a limit counts by.

use std::net::IpAddr;

use http::{Request, header::COOKIE};
use smallvec::SmallVec;

use super::trust::Trust;
#[cfg(feature = "axum")]
use crate::extract::Route;
use crate::{
    extract::{ApiKey, Cookie, Header, HttpMethod, KeyError, KeyExtractor, QueryParam},
    invalid::Invalid,
    key::Key,
};

/// A key of one part or of several, and what stands in for those that a request does not have.
#[derive(Debug)]
pub(super) struct Identity {
    pub(super) parts: Vec<Part>,
    pub(super) default: Option<StandIn>,
}

/// What is read from a request.
#[derive(Debug)]
pub(super) enum Part {
    /// The same for all: everybody, or the path of the limit.
    Constant(Key),
    Ip,
    /// The route that axum matched, for a limit without a path of its own.
    #[cfg(feature = "axum")]
    MatchedRoute,
    Method,
    Header(Header),
    ApiKey(ApiKey),
    Query(QueryParam),
    Cookie(Cookie),
}

#[derive(Debug)]
pub(super) enum StandIn {
    Word(Key),
    Ip,
}

impl Identity {
    pub(super) fn of<B>(&self, request: &Request<B>, trust: &Trust) -> Result<Key, KeyError> {
        match &*self.parts {
            [part] => self.part(part, request, trust),
            parts => {
                let keys = parts.iter().map(|part| self.part(part, request, trust));
                let keys = keys.collect::<Result<SmallVec<[Key; 4]>, _>>()?;
                Ok(Key::joined(&keys))
            }
        }
    }

    fn part<B>(&self, part: &Part, request: &Request<B>, trust: &Trust) -> Result<Key, KeyError> {
        match (part.of(request, trust), &self.default) {
            (Err(error), Some(StandIn::Word(word))) if error.is_absence() => Ok(word.clone()),
            (Err(error), Some(StandIn::Ip)) if error.is_absence() => trust.address(request),
            (found, _) => found,
        }
    }
}

/// Values as an operator has them, each by the name of its part.
impl Identity {
    /// The key of a request that has these values, and none of the others.
    pub(super) fn of_values(&self, values: &[(&str, &str)], trust: &Trust) -> Result<Key, Invalid> {
        // Each is the value of one part, and each part has one value.
        for (name, _) in values {
            match self.parts.iter().filter(|part| part.is_called(name)).count() {
                1 => {}
                0 if self.is_default_ip(name) => {}
                _ => return Err(Invalid::new("key", name, self.must_have_values())),
            }
        }
        let count = |part: &Part| values.iter().filter(|(name, _)| part.is_called(name)).count();
        if let Some(part) = self.parts.iter().find(|part| count(part) > 1) {
            return Err(Invalid::new("key", part.name().unwrap_or_default(), "be given once"));
        }
        let keys = self.parts.iter().map(|part| self.part_of_values(part, values, trust));
        let keys = keys.collect::<Result<SmallVec<[Key; 4]>, _>>()?;
        Ok(match &*keys {
            [key] => key.clone(),
            keys => Key::joined(keys),
        })
    }

    fn part_of_values(&self, part: &Part, values: &[(&str, &str)], trust: &Trust) -> Result<Key, Invalid> {
        let value_of =
            |is_it: &dyn Fn(&str) -> bool| values.iter().find(|(name, _)| is_it(name)).map(|(_, value)| *value);
        if let Part::Constant(key) = part {
            return Ok(key.clone());
        }
        if let Some(value) = value_of(&|name| part.is_called(name)) {
            return part.of_value(value, trust);
        }
        match (&self.default, value_of(&|name| self.is_default_ip(name))) {
            (Some(StandIn::Word(word)), _) => Ok(word.clone()),
            (Some(StandIn::Ip), Some(address)) => Part::Ip.of_value(address, trust),
            _ => Err(Invalid::new("key", "nothing", self.must_have_values())),
        }
    }

    /// The key that stores have under this text, if it can be one of this limit.
    pub(super) fn of_stored(&self, text: &str) -> Result<Key, Invalid> {
        let is_default = match &self.default {
            Some(StandIn::Word(word)) => text.starts_with(word.as_str()),
            Some(StandIn::Ip) => text.starts_with("ip:"),
            None => false,
        };
        let is_first = match &*self.parts {
            // What begins like a digest and is none may be the secret itself.
            [Part::ApiKey(_)] => text.strip_prefix("apikey:").is_some_and(is_hex_digest),
            [first, ..] => text.starts_with(&first.stored_prefix()),
            [] => false,
        };
        if is_default || is_first {
            return Ok(Key::verbatim(text.to_owned()));
        }
        let label = text.split_once(':').map_or("", |(label, _)| label);
        Err(Invalid::new("key", format_args!("{label}:.."), self.must_have_values()))
    }

    fn is_default_ip(&self, name: &str) -> bool {
        matches!(self.default, Some(StandIn::Ip)) && name == "ip"
    }

    fn must_have_values(&self) -> String {
        let names = self.parts.iter().filter_map(Part::name);
        let named: Vec<_> = names.map(|name| format!("{name}=VALUE")).collect();
        let fixed = match named.len() < self.parts.len() {
            true => ", without what is the same for all requests",
            false => "",
        };
        match (&*named, &self.default) {
            ([], _) => "be left out: all requests have the same".into(),
            (_, Some(StandIn::Ip)) => format!("be {}, or ip=ADDRESS in its place{fixed}", named.join(" and ")),
            _ => format!("be {}{fixed}", named.join(" and ")),
        }
    }
}

impl Part {
    /// Its name in the file, unless it is the same for all.
    fn name(&self) -> Option<String> {
        Some(match self {
            Self::Constant(_) => return None,
            Self::Ip => "ip".into(),
            #[cfg(feature = "axum")]
            Self::MatchedRoute => "route".into(),
            Self::Method => "method".into(),
            Self::Header(header) => format!("header:{}", header.name()),
            Self::ApiKey(key) => format!("apikey:{}", key.name()),
            Self::Query(parameter) => format!("query:{}", parameter.name()),
            Self::Cookie(cookie) => format!("cookie:{}", cookie.name()),
        })
    }

    /// What its text in a stored key begins with.
    fn stored_prefix(&self) -> String {
        match self {
            Self::Constant(key) => key.as_str().to_owned(),
            #[cfg(feature = "axum")]
            Self::MatchedRoute => "/".into(),
            Self::Ip => "ip:".into(),
            Self::Method => "method:".into(),
            Self::ApiKey(_) => "apikey:".into(),
            Self::Header(header) => prefix_of(&header.key(b"value")),
            Self::Query(parameter) => prefix_of(&parameter.key(b"value")),
            Self::Cookie(cookie) => prefix_of(&cookie.key(b"value")),
        }
    }

    /// Whether this is its name, or either half of it.
    fn is_called(&self, name: &str) -> bool {
        let is = |known: &str| known.eq_ignore_ascii_case(name);
        let known = self.name();
        known.is_some_and(|known| is(&known) || known.split_once(':').is_some_and(|(kind, name)| is(kind) || is(name)))
    }

    /// The key of a request that has this value.
    fn of_value(&self, value: &str, trust: &Trust) -> Result<Key, Invalid> {
        if value.is_empty() {
            let name = self.name().unwrap_or_default();
            return Err(Invalid::new("key", format_args!("{name}="), "have a value"));
        }
        Ok(match self {
            Self::Constant(key) => key.clone(),
            Self::Ip => {
                let address: Result<IpAddr, _> = value.parse();
                let must = "be an address, like 192.0.2.1 or 2001:db8::1";
                let address = address.map_err(|_| Invalid::new("key", format_args!("ip={value}"), must))?;
                trust.client().key(address.to_canonical())
            }
            #[cfg(feature = "axum")]
            Self::MatchedRoute => Key::route(value),
            Self::Method => HttpMethod::key(&value.to_ascii_uppercase()),
            Self::Header(header) => header.key(value.as_bytes()),
            Self::ApiKey(_) => ApiKey::key(value.as_bytes()),
            Self::Query(parameter) => parameter.key(value.as_bytes()),
            Self::Cookie(cookie) => cookie.key(value.as_bytes()),
        })
    }

    fn of<B>(&self, request: &Request<B>, trust: &Trust) -> Result<Key, KeyError> {
        let key = match self {
            Self::Constant(key) => return Ok(key.clone()),
            Self::Ip => return trust.address(request),
            #[cfg(feature = "axum")]
            Self::MatchedRoute => Route.extract(request),
            Self::Method => HttpMethod.extract(request),
            Self::Header(header) => return header.of(trust.header(request, header.name())?),
            Self::ApiKey(key) => return key.of(trust.header(request, key.name())?),
            Self::Query(parameter) => parameter.extract(request),
            Self::Cookie(cookie) => match trust.believes(request, &COOKIE)? {
                true => cookie.extract(request),
                false => Err(KeyError::missing("the `cookie` header")),
            },
        };
        Ok(key?.expect("none of these exempts a request"))
    }
}

/// The label of a key, and the colon after it.
fn prefix_of(key: &Key) -> String {
    let label = key.as_str().split_once(':').map_or("", |(label, _)| label);
    format!("{label}:")
}

/// Whether a text is a digest as keys have it.
fn is_hex_digest(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
