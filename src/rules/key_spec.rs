//! The key of a rule: `key` and `default` of a rules file.

use std::net::IpAddr;

use http::{Request, header::COOKIE};
use smallvec::SmallVec;

use super::trust::Trust;
#[cfg(feature = "axum")]
use crate::extract::Route;
use crate::{
    config_error::ConfigError,
    extract::{ApiKey, Cookie, Header, HttpMethod, KeyError, KeyExtractor, QueryParam},
    key::Key,
};

/// The parts of a key, and the default for parts that a request lacks.
#[derive(Debug)]
pub(super) struct KeySpec {
    pub(super) parts: Vec<KeyPart>,
    pub(super) default: Option<DefaultKey>,
    /// Whether requests without the key are not counted.
    pub(super) optional: bool,
}

/// A part of a key, extracted from a request.
#[derive(Debug)]
pub(super) enum KeyPart {
    /// The same for all requests: the global key, or the rule's path.
    Constant(Key),
    Ip,
    /// The route that axum matched, for a rule without a path.
    #[cfg(feature = "axum")]
    MatchedRoute,
    Method,
    Header(Header),
    ApiKey(ApiKey),
    Query(QueryParam),
    Cookie(Cookie),
}

#[derive(Debug)]
pub(super) enum DefaultKey {
    Constant(Key),
    Ip,
}

impl KeySpec {
    /// The key of the request, or `None` if the rule does not count it.
    pub(super) fn extract_optional<B>(&self, request: &Request<B>, trust: &Trust) -> Result<Option<Key>, KeyError> {
        match self.extract(request, trust) {
            Err(error) if self.optional && error.allows_default() => Ok(None),
            key => key.map(Some),
        }
    }

    fn extract<B>(&self, request: &Request<B>, trust: &Trust) -> Result<Key, KeyError> {
        match &*self.parts {
            [part] => self.extract_part(part, request, trust),
            parts => {
                let keys = parts.iter().map(|part| self.extract_part(part, request, trust));
                let keys = keys.collect::<Result<SmallVec<[Key; 4]>, _>>()?;
                Ok(Key::joined(&keys))
            }
        }
    }

    fn extract_part<B>(&self, part: &KeyPart, request: &Request<B>, trust: &Trust) -> Result<Key, KeyError> {
        match (part.extract(request, trust), &self.default) {
            (Err(error), Some(DefaultKey::Constant(key))) if error.allows_default() => Ok(key.clone()),
            (Err(error), Some(DefaultKey::Ip)) if error.allows_default() => trust.client_key(request),
            (key, _) => key,
        }
    }
}

/// Keys for operators, from named values or from the text in a store.
impl KeySpec {
    /// The key of a request with these values and no others.
    pub(super) fn key_of_values(&self, values: &[(&str, &str)], trust: &Trust) -> Result<Key, ConfigError> {
        // Each value belongs to one part, and each part has at most one value.
        for (name, _) in values {
            match self.parts.iter().filter(|part| part.has_name(name)).count() {
                1 => {}
                0 if self.is_default_ip(name) => {}
                _ => return Err(ConfigError::new("key", name, self.expected_values())),
            }
        }
        let count = |part: &KeyPart| values.iter().filter(|(name, _)| part.has_name(name)).count();
        if let Some(part) = self.parts.iter().find(|part| count(part) > 1) {
            return Err(ConfigError::new(
                "key",
                part.name().unwrap_or_default(),
                "be given once",
            ));
        }
        let keys = self.parts.iter().map(|part| self.part_of_values(part, values, trust));
        let keys = keys.collect::<Result<SmallVec<[Key; 4]>, _>>()?;
        Ok(match &*keys {
            [key] => key.clone(),
            keys => Key::joined(keys),
        })
    }

    fn part_of_values(&self, part: &KeyPart, values: &[(&str, &str)], trust: &Trust) -> Result<Key, ConfigError> {
        let find =
            |matches: &dyn Fn(&str) -> bool| values.iter().find(|(name, _)| matches(name)).map(|(_, value)| *value);
        if let KeyPart::Constant(key) = part {
            return Ok(key.clone());
        }
        if let Some(value) = find(&|name| part.has_name(name)) {
            return part.key_of_value(value, trust);
        }
        match (&self.default, find(&|name| self.is_default_ip(name))) {
            (Some(DefaultKey::Constant(key)), _) => Ok(key.clone()),
            (Some(DefaultKey::Ip), Some(address)) => KeyPart::Ip.key_of_value(address, trust),
            _ => Err(ConfigError::new("key", "nothing", self.expected_values())),
        }
    }

    /// The key with this text in a store, if it can be a key of this rule.
    pub(super) fn stored_key(&self, text: &str) -> Result<Key, ConfigError> {
        let is_default = match &self.default {
            Some(DefaultKey::Constant(key)) => text.starts_with(key.as_str()),
            Some(DefaultKey::Ip) => text.starts_with("ip:"),
            None => false,
        };
        let has_prefix = match &*self.parts {
            // Text after `apikey:` that is not a digest may be the secret itself.
            [KeyPart::ApiKey(_)] => text.strip_prefix("apikey:").is_some_and(is_hex_digest),
            [first, ..] => text.starts_with(&first.stored_prefix()),
            [] => false,
        };
        if is_default || has_prefix {
            return Ok(Key::verbatim(text.to_owned()));
        }
        let label = text.split_once(':').map_or("", |(label, _)| label);
        Err(ConfigError::new(
            "key",
            format_args!("{label}:.."),
            self.expected_values(),
        ))
    }

    fn is_default_ip(&self, name: &str) -> bool {
        matches!(self.default, Some(DefaultKey::Ip)) && name == "ip"
    }

    /// The values that operators have to name, to complete the sentence "it must ...".
    fn expected_values(&self) -> String {
        let names = self.parts.iter().filter_map(KeyPart::name);
        let named: Vec<_> = names.map(|name| format!("{name}=VALUE")).collect();
        let fixed = match named.len() < self.parts.len() {
            true => ", without the parts that are the same for all requests",
            false => "",
        };
        match (&*named, &self.default) {
            ([], _) => "be omitted: all requests share one key".into(),
            (_, Some(DefaultKey::Ip)) => format!("be {}, or ip=ADDRESS instead{fixed}", named.join(" and ")),
            _ => format!("be {}{fixed}", named.join(" and ")),
        }
    }
}

impl KeyPart {
    /// The name of the part in the file, or `None` for a constant.
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

    /// The prefix of the part's text in a stored key.
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

    /// Whether this is the part's name, or the text before or after its colon.
    fn has_name(&self, name: &str) -> bool {
        let is = |own: &str| own.eq_ignore_ascii_case(name);
        let own = self.name();
        own.is_some_and(|own| is(&own) || own.split_once(':').is_some_and(|(kind, name)| is(kind) || is(name)))
    }

    /// The key of a request with this value.
    fn key_of_value(&self, value: &str, trust: &Trust) -> Result<Key, ConfigError> {
        if value.is_empty() {
            let name = self.name().unwrap_or_default();
            return Err(ConfigError::new("key", format_args!("{name}="), "have a value"));
        }
        Ok(match self {
            Self::Constant(key) => key.clone(),
            Self::Ip => {
                let address: Result<IpAddr, _> = value.parse();
                let must = "be an address, like 192.0.2.1 or 2001:db8::1";
                let address = address.map_err(|_| ConfigError::new("key", format_args!("ip={value}"), must))?;
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

    fn extract<B>(&self, request: &Request<B>, trust: &Trust) -> Result<Key, KeyError> {
        match self {
            Self::Constant(key) => Ok(key.clone()),
            Self::Ip => trust.client_key(request),
            #[cfg(feature = "axum")]
            Self::MatchedRoute => Route.extract(request),
            Self::Method => HttpMethod.extract(request),
            Self::Header(header) => header.header_key(trust.header(request, header.name())?),
            Self::ApiKey(key) => key.header_key(trust.header(request, key.name())?),
            Self::Query(parameter) => parameter.extract(request),
            Self::Cookie(cookie) => match trust.is_trusted(request, &COOKIE)? {
                true => cookie.extract(request),
                false => Err(KeyError::missing("the `cookie` header")),
            },
        }
    }
}

/// The label of a key, with its colon.
fn prefix_of(key: &Key) -> String {
    let label = key.as_str().split_once(':').map_or("", |(label, _)| label);
    format!("{label}:")
}

/// Whether a text is a digest as in keys: 32 lowercase hexadecimal digits.
fn is_hex_digest(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
