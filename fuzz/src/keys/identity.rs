//! Identities as key extractors build them.

use std::{
    net::{IpAddr, SocketAddr},
    str::Lines,
};

use http::Request;
use tollgate::{
    ClientIp, Key, KeyExtractor,
    fuzzing::{default_key, joined_key, key_of_bytes, route_key},
};

/// Labels of key extractors.
const LABELS: [&str; 8] = [
    "user",
    "x-user-id",
    "header/ip",
    "query/a",
    "cookie/b",
    "method",
    "a b",
    "anchored",
];

#[derive(Debug, PartialEq)]
pub(super) enum Part {
    Named {
        label: &'static str,
        value: Vec<u8>,
    },
    Default(String),
    Route(String),
    Address(IpAddr),
    /// A tuple in a tuple.
    Tuple(Vec<Part>),
    /// Unencoded text of the application, with no guarantee except that clients do not control it.
    Verbatim(String),
}

/// Parses one part per line: its first letter is the kind, the rest the value.
pub(super) fn parse(lines: &mut Lines<'_>) -> Vec<Part> {
    let mut parts = Vec::new();
    while parts.len() < 4
        && let Some(line) = lines.next()
    {
        let mut rest = line.chars();
        let kind = rest.next().unwrap_or('n');
        let text = rest.as_str();
        parts.push(match kind {
            '(' => Part::Tuple(parse(lines)),
            ')' => break,
            's' => Part::Default(text.into()),
            'r' => Part::Route(format!("/{text}")),
            'v' => Part::Verbatim(text.into()),
            kind => match text.parse() {
                Ok(address) if kind == 'a' => Part::Address(IpAddr::to_canonical(&address)),
                _ => Part::Named {
                    label: LABELS[kind as usize % LABELS.len()],
                    value: text.into(),
                },
            },
        });
    }
    match &mut parts[..] {
        [] => vec![Part::Default("anonymous".into())],
        // A tuple of one tuple is that tuple.
        [Part::Tuple(parts)] => std::mem::take(parts),
        _ => parts,
    }
}

/// The key of all parts together.
pub(super) fn key(parts: &[Part]) -> Key {
    match parts {
        [one] => one.key(),
        several => joined_key(&several.iter().map(Part::key).collect::<Vec<_>>()),
    }
}

impl Part {
    fn key(&self) -> Key {
        match self {
            Self::Named { label, value } => key_of_bytes(label, value),
            Self::Default(value) => default_key(value),
            Self::Route(template) => route_key(template),
            Self::Tuple(parts) => key(parts),
            Self::Verbatim(text) => Key::verbatim(text.clone()),
            Self::Address(address) => {
                let mut request = Request::new(());
                request.extensions_mut().insert(SocketAddr::new(*address, 4711));
                let key = ClientIp::peer().ipv6_prefix(128).extract(&request);
                key.expect("the request has an address")
            }
        }
    }

    pub(super) fn is_from_extractor(&self) -> bool {
        match self {
            Self::Verbatim(_) => false,
            Self::Tuple(parts) => parts.len() > 1 && parts.iter().all(Self::is_from_extractor),
            _ => true,
        }
    }
}
