//! The elements that trusted proxies append to the header lines of a client.

use std::net::IpAddr;

use http::HeaderValue;

use super::{
    PROXY, header_value,
    resolvers::{Resolved, Resolvers, request_from},
};

const CLIENTS: [&str; 4] = ["198.51.100.7", "2001:db8::7", "203.0.113.9", "::1"];
const PROXIES: [&str; 4] = ["10.0.0.2", "fd00::2", "192.0.2.7", "10.255.255.255"];

/// A chain of trusted proxies.
pub(super) struct ProxyChain {
    forwarded: bool,
    /// The peer of each proxy, the client first.
    peers: Vec<IpAddr>,
    /// The header element that each proxy appends for its peer.
    elements: Vec<Vec<u8>>,
    /// Whether each element is appended as a new header line.
    separate_lines: bool,
}

impl ProxyChain {
    /// Each byte of `plan` defines one proxy. Some elements contain `client_value`, the client's own header, in quotes.
    pub(super) fn new(forwarded: bool, plan: &[u8], client_value: &HeaderValue) -> Self {
        let first = plan.first().copied().unwrap_or_default();
        let plan = &plan[..plan.len().min(5)];
        let address = |(index, byte): (usize, &u8)| -> IpAddr {
            let known = if index == 0 { CLIENTS } else { PROXIES };
            known[usize::from(byte % 4)].parse().expect("an address")
        };
        let plan = if plan.is_empty() { &[0][..] } else { plan };
        let peers: Vec<IpAddr> = plan.iter().enumerate().map(address).collect();
        let element = |(byte, address): (&u8, &IpAddr)| match forwarded {
            true => forwarded_element(byte / 4, *address, client_value.as_bytes()),
            false => x_forwarded_for_element(byte / 4, *address),
        };
        Self {
            forwarded,
            elements: plan.iter().zip(&peers).map(element).collect(),
            peers,
            separate_lines: first >= 128,
        }
    }

    /// The resolvers find the peers of the proxies, regardless of what the client sent.
    pub(super) fn resolves_after(&self, client_lines: &[HeaderValue]) {
        let mut lines: Vec<HeaderValue> = client_lines.to_vec();
        for element in &self.elements {
            match lines.last_mut() {
                Some(line) if !self.separate_lines => {
                    *line = header_value(&[line.as_bytes(), b", ", element].concat());
                }
                _ => lines.push(header_value(element)),
            }
        }
        let resolvers = Resolvers::get(self.forwarded);
        let request = request_from(PROXY, self.forwarded, &lines);
        assert_eq!(resolvers.by_proxies(&request), Resolved::Client(self.peers[0]));
        for (hops, peer) in self.peers.iter().rev().enumerate() {
            assert_eq!(resolvers.by_hops(hops + 1, &request), Resolved::Client(*peer));
        }
    }
}

fn x_forwarded_for_element(form: u8, address: IpAddr) -> Vec<u8> {
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

fn forwarded_element(form: u8, address: IpAddr, host: &[u8]) -> Vec<u8> {
    let node = match (address, form % 2) {
        (IpAddr::V4(address), 0) => address.to_string(),
        (IpAddr::V4(address), _) => format!("\"{address}:4711\""),
        (IpAddr::V6(address), 0) => format!("\"[{address}]\""),
        (IpAddr::V6(address), _) => format!("\"[{address}]:_hidden\""),
    };
    let escape = |byte: &u8| match byte {
        b'"' | b'\\' => vec![b'\\', *byte],
        byte => vec![*byte],
    };
    let host: Vec<u8> = host.iter().flat_map(escape).collect();
    match form / 2 % 4 {
        0 => format!("for={node}").into_bytes(),
        1 => format!("by=_here; FOR={node} ;proto=https").into_bytes(),
        2 => [b"host=\"", &host[..], b"\";for=", node.as_bytes()].concat(),
        _ => [b"For=", node.as_bytes(), b";host=\"", &host[..], b"\""].concat(),
    }
}

/// Whether every quote is closed, and no backslash is outside of quotes.
pub(super) fn has_balanced_quotes(line: &HeaderValue) -> bool {
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
