//! What proxies that can be believed add to whatever a client sent.

use std::net::IpAddr;

use http::HeaderValue;

use super::{
    PROXY,
    asked::{Asked, Told, from},
    value,
};

const CLIENTS: [&str; 4] = ["198.51.100.7", "2001:db8::7", "203.0.113.9", "::1"];
const PROXIES: [&str; 4] = ["10.0.0.2", "fd00::2", "192.0.2.7", "10.255.255.255"];

/// The addresses that proxies saw, the client's first, and how each of them wrote it down.
pub(super) struct Wrote {
    forwarded: bool,
    seen: Vec<IpAddr>,
    elements: Vec<Vec<u8>>,
    /// Whether each is on a line of its own.
    own_lines: bool,
}

impl Wrote {
    /// A byte says how one proxy wrote whom it saw. What the client sent may be repeated there, in quotes.
    pub(super) fn new(forwarded: bool, plan: &[u8], sent: &HeaderValue) -> Self {
        let first = plan.first().copied().unwrap_or_default();
        let plan = &plan[..plan.len().min(5)];
        let address = |(index, byte): (usize, &u8)| -> IpAddr {
            let known = if index == 0 { CLIENTS } else { PROXIES };
            known[usize::from(byte % 4)].parse().expect("an address")
        };
        let plan = if plan.is_empty() { &[0][..] } else { plan };
        let seen: Vec<IpAddr> = plan.iter().enumerate().map(address).collect();
        let element = |(byte, address): (&u8, &IpAddr)| match forwarded {
            true => standard(byte / 4, *address, sent.as_bytes()),
            false => plain(byte / 4, *address),
        };
        Self {
            forwarded,
            elements: plan.iter().zip(&seen).map(element).collect(),
            seen,
            own_lines: first >= 128,
        }
    }

    /// Whatever was sent before, the proxies' words are the last.
    pub(super) fn counts(&self, sent: &[HeaderValue]) {
        let mut lines: Vec<HeaderValue> = sent.to_vec();
        for element in &self.elements {
            match lines.last_mut() {
                Some(line) if !self.own_lines => *line = value(&[line.as_bytes(), b", ", element].concat()),
                _ => lines.push(value(element)),
            }
        }
        let (asked, request) = (Asked::by(self.forwarded), from(PROXY, self.forwarded, &lines));
        assert_eq!(asked.behind(&request), Told::Client(self.seen[0]));
        for (hops, seen) in self.seen.iter().rev().enumerate() {
            assert_eq!(asked.hops(hops + 1, &request), Told::Client(*seen));
        }
    }
}

/// As X-Forwarded-For has it.
fn plain(form: u8, address: IpAddr) -> Vec<u8> {
    let text = match (form % 4, address) {
        (1, IpAddr::V4(address)) => format!("{address}:4711"),
        (1, IpAddr::V6(address)) => format!("[{address}]:4711"),
        (2, IpAddr::V4(address)) => format!("\t{} ", address.to_ipv6_mapped()),
        (2, IpAddr::V6(address)) => format!("[{address}]"),
        (3, address) => format!("  {address}\t"),
        (_, address) => address.to_string(),
    };
    text.into_bytes()
}

/// As Forwarded has it.
fn standard(form: u8, address: IpAddr, host: &[u8]) -> Vec<u8> {
    let node = match (address, form % 2) {
        (IpAddr::V4(address), 0) => address.to_string(),
        (IpAddr::V4(address), _) => format!("\"{address}:4711\""),
        (IpAddr::V6(address), 0) => format!("\"[{address}]\""),
        (IpAddr::V6(address), _) => format!("\"[{address}]:_hidden\""),
    };
    let escaped = |byte: &u8| match byte {
        b'"' | b'\\' => vec![b'\\', *byte],
        byte => vec![*byte],
    };
    let host: Vec<u8> = host.iter().flat_map(escaped).collect();
    match form / 2 % 4 {
        0 => format!("for={node}").into_bytes(),
        1 => format!("by=_here; FOR={node} ;proto=https").into_bytes(),
        2 => [b"host=\"", &host[..], b"\";for=", node.as_bytes()].concat(),
        _ => [b"For=", node.as_bytes(), b";host=\"", &host[..], b"\""].concat(),
    }
}

/// Whether every quote is closed, and nothing is escaped but what is quoted.
pub(super) fn pairs_up(line: &HeaderValue) -> bool {
    let (mut quoted, mut bytes) = (false, line.as_bytes().iter());
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => quoted = !quoted,
            b'\\' if !quoted => return false,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
    !quoted
}
