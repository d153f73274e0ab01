//! Any header value gives a key, and never that of an address which the trusted proxies did not report.

use std::net::{IpAddr, Ipv6Addr};

use http::{HeaderName, header::FORWARDED};
use proptest::{collection::vec, prelude::*};
use tollgate::ClientIp;

use super::fixture::{X_FORWARDED_FOR, key, request};
use support::{
    header_lines::any_line,
    property::{cases, config},
};

use crate::keys::FAILURES;

const MEGABYTE: usize = 1 << 20;
const TEN_MEGABYTES: usize = 10_000_000;

/// The two headers, and what precedes an address in each.
const HEADERS: [(HeaderName, &str); 2] = [(X_FORWARDED_FOR, ""), (FORWARDED, "for=")];

fn reading(header: &HeaderName, ip: ClientIp) -> ClientIp {
    if *header == FORWARDED { ip.forwarded() } else { ip }
}

/// Both kinds of trust in the nearest proxy.
fn trusting(header: &HeaderName) -> [ClientIp; 2] {
    [ClientIp::trusted_proxies(["10.0.0.0/8"]), ClientIp::trusted_hops(1)].map(|ip| reading(header, ip))
}

#[test]
fn a_thousand_hops() {
    for (header, prefix) in HEADERS {
        let (client, proxy) = (format!("{prefix}198.51.100.7"), format!("{prefix}10.0.0.2"));
        let hops = [vec![client], vec![proxy; 999]].concat();
        for lines in [vec![hops.join(", ")], hops] {
            let request = request("10.0.0.1", &header, lines);
            let read = |ip| key(&reading(&header, ip), &request);
            assert_eq!(read(ClientIp::trusted_proxies(["10.0.0.0/8"])), "ip:198.51.100.7");
            assert_eq!(read(ClientIp::trusted_hops(999)), "ip:10.0.0.2");
            assert_eq!(read(ClientIp::trusted_hops(1000)), "ip:198.51.100.7");
            assert_eq!(read(ClientIp::trusted_hops(1001)), "ip:10.0.0.1");
        }
    }
}

/// Any of these would time out if parsing an element cost more than its own length.
#[test]
fn a_megabyte_in_one_line() {
    let pieces = "a , \" \", ; = [ : \\ 1 for= for=; for=\" 10.0.0.2; \\\" \\\\\" ;\" ,\\";
    for piece in pieces.split(' ').chain([" ", "\t"]) {
        let sent = piece.repeat(MEGABYTE / piece.len());
        for (header, prefix) in HEADERS {
            let alone = request("10.0.0.1", &header, [&sent]);
            let before = request("10.0.0.1", &header, [format!("{sent}, {prefix}198.51.100.7")]);
            for ip in trusting(&header) {
                assert_eq!(key(&ip, &alone), "ip:10.0.0.1", "{piece:?}");
                assert_eq!(key(&ip, &before), "ip:198.51.100.7", "{piece:?}");
            }
        }
    }
}

#[test]
fn ten_megabytes_of_proxies() {
    for (header, prefix) in HEADERS {
        let proxy = format!(",{prefix}10.0.0.2");
        let proxies = TEN_MEGABYTES / proxy.len();
        let line = format!("{prefix}198.51.100.7{}", proxy.repeat(proxies));
        let request = request("10.0.0.1", &header, [line]);
        for ip in [
            ClientIp::trusted_proxies(["10.0.0.0/8"]),
            ClientIp::trusted_hops(proxies + 1),
        ] {
            assert_eq!(key(&reading(&header, ip), &request), "ip:198.51.100.7");
        }
    }
}

/// An element that a proxy writes into `Forwarded`, with a quoted host that the client sent.
fn any_proxy_element() -> impl Strategy<Value = Vec<u8>> {
    let escape = |byte| {
        if b"\\\"".contains(&byte) {
            vec![b'\\', byte]
        } else {
            vec![byte]
        }
    };
    let with_host = move |(before, host): (bool, Vec<u8>)| {
        let host: Vec<u8> = host.into_iter().flat_map(escape).collect();
        match before {
            true => [b"host=\"", &host[..], b"\";for=198.51.100.7"].concat(),
            false => [b"for=198.51.100.7;host=\"", &host[..], b"\""].concat(),
        }
    };
    prop_oneof![
        1 => Just(b"for=198.51.100.7".to_vec()),
        1 => Just(b"proto=http;For=\"198.51.100.7:4711\"".to_vec()),
        4 => (any::<bool>(), any_line()).prop_map(with_host),
    ]
}

/// Whether a key contains an address in the form of keys.
fn is_address_key(key: &str) -> bool {
    let text = key.strip_prefix("ip:").unwrap();
    match text.strip_prefix('[') {
        None => matches!(text.parse(), Ok(IpAddr::V4(_))),
        Some(network) => network.strip_suffix("::]/64").is_some_and(|network| {
            format!("{network}::")
                .parse::<Ipv6Addr>()
                .is_ok_and(|network| network.to_bits() as u64 == 0)
        }),
    }
}

proptest! {
    #![proptest_config(config(cases(), FAILURES))]

    #[test]
    fn any_header_gives_a_key(lines in vec(any_line(), 0..4), hops in 0..5_usize) {
        for (header, _) in HEADERS {
            let request = request("10.0.0.1", &header, &lines);
            for ip in [ClientIp::trusted_proxies(["10.0.0.0/8"]), ClientIp::trusted_hops(hops)] {
                let key = key(&reading(&header, ip), &request);
                prop_assert!(is_address_key(&key), "{}", key);
            }
        }
    }

    #[test]
    fn an_untrusted_peer_is_counted_by_its_address(lines in vec(any_line(), 0..4)) {
        for (header, _) in HEADERS {
            let request = request("192.0.2.1", &header, &lines);
            for ip in [ClientIp::peer(), ClientIp::trusted_proxies(["10.0.0.0/8"]), ClientIp::trusted_hops(0)] {
                prop_assert_eq!(key(&reading(&header, ip), &request), "ip:192.0.2.1");
            }
        }
    }

    /// The proxy's element follows everything that the client sent, on the same line or on another.
    #[test]
    fn the_element_of_the_proxy_counts(sent in vec(any_line(), 1..4), same_line: bool, wrote in any_proxy_element()) {
        for (header, _) in HEADERS {
            let wrote = if header == FORWARDED { &wrote[..] } else { b"198.51.100.7" };
            let mut lines = sent.clone();
            match same_line {
                true => lines.last_mut().unwrap().extend([b",", wrote].concat()),
                false => lines.push(wrote.into()),
            }
            let request = request("10.0.0.1", &header, &lines);
            for ip in trusting(&header) {
                prop_assert_eq!(key(&ip, &request), "ip:198.51.100.7");
            }
        }
    }
}
