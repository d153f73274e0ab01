//! Identities, as extractors make them.

use std::{
    net::{IpAddr, SocketAddr},
    str::Lines,
};

use http::Request;
use tollgate::{
    ClientIp, Key, KeyExtractor,
    fuzzing::{default_key, joined_key, key_of_bytes, route_key},
};

/// What extractors of the code may be called.
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
    StandIn(String),
    Route(String),
    Address(IpAddr),
    /// A tuple in a tuple.
    Several(Vec<Part>),
    /// Text of one's own, of which nothing is promised but that it is no client's.
    Verbatim(String),
}

/// A line for a part: the first letter says what it is, the others what it is made of.
pub(super) fn read(lines: &mut Lines<'_>) -> Vec<Part> {
    let mut parts = Vec::new();
    while parts.len() < 4
        && let Some(line) = lines.next()
    {
        let mut rest = line.chars();
        let kind = rest.next().unwrap_or('n');
        let text = rest.as_str();
        parts.push(match kind {
            '(' => Part::Several(read(lines)),
            ')' => break,
            's' => Part::StandIn(text.into()),
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
        [] => vec![Part::StandIn("nobody".into())],
        // There is no tuple of one.
        [Part::Several(parts)] => std::mem::take(parts),
        _ => parts,
    }
}

/// What they are counted by, together.
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
            Self::StandIn(word) => default_key(word),
            Self::Route(template) => route_key(template),
            Self::Several(parts) => key(parts),
            Self::Verbatim(text) => Key::verbatim(text.clone()),
            Self::Address(address) => {
                let mut request = Request::new(());
                request.extensions_mut().insert(SocketAddr::new(*address, 4711));
                let key = ClientIp::peer().ipv6_prefix(128).extract(&request);
                key.ok().flatten().expect("it has an address")
            }
        }
    }

    pub(super) fn is_made_by_extractors(&self) -> bool {
        match self {
            Self::Verbatim(_) => false,
            Self::Several(parts) => parts.len() > 1 && parts.iter().all(Self::is_made_by_extractors),
            _ => true,
        }
    }
}
