//! Whatever is in the header, there is an answer, and it is nobody's whom the proxies did not see.

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

/// The two headers, and what each says of an address.
const HEADERS: [(HeaderName, &str); 2] = [(X_FORWARDED_FOR, ""), (FORWARDED, "for=")];

fn reading(header: &HeaderName, ip: ClientIp) -> ClientIp {
    if *header == FORWARDED { ip.forwarded() } else { ip }
}

/// Trust of both kinds in the one who is nearest.
fn trusting(header: &HeaderName) -> [ClientIp; 2] {
    [ClientIp::behind(["10.0.0.0/8"]), ClientIp::hops(1)].map(|ip| reading(header, ip))
}

#[test]
fn a_thousand_hops() {
    for (header, says) in HEADERS {
        let (client, proxy) = (format!("{says}198.51.100.7"), format!("{says}10.0.0.2"));
        let hops = [vec![client], vec![proxy; 999]].concat();
        for lines in [vec![hops.join(", ")], hops] {
            let request = request("10.0.0.1", &header, lines);
            let read = |ip| key(&reading(&header, ip), &request);
            assert_eq!(read(ClientIp::behind(["10.0.0.0/8"])), "ip:198.51.100.7");
            assert_eq!(read(ClientIp::hops(999)), "ip:10.0.0.2");
            assert_eq!(read(ClientIp::hops(1000)), "ip:198.51.100.7");
            assert_eq!(read(ClientIp::hops(1001)), "ip:10.0.0.1");
        }
    }
}

/// Any of these would take forever if an element cost more than its own length.
#[test]
fn a_megabyte_in_one_line() {
    let pieces = "a , \" \", ; = [ : \\ 1 for= for=; for=\" 10.0.0.2; \\\" \\\\\" ;\" ,\\";
    for piece in pieces.split(' ').chain([" ", "\t"]) {
        let sent = piece.repeat(MEGABYTE / piece.len());
        for (header, says) in HEADERS {
            let alone = request("10.0.0.1", &header, [&sent]);
            let before = request("10.0.0.1", &header, [format!("{sent}, {says}198.51.100.7")]);
            for ip in trusting(&header) {
                assert_eq!(key(&ip, &alone), "ip:10.0.0.1", "{piece:?}");
                assert_eq!(key(&ip, &before), "ip:198.51.100.7", "{piece:?}");
            }
        }
    }
}

#[test]
fn ten_megabytes_of_proxies() {
    for (header, says) in HEADERS {
        let proxy = format!(",{says}10.0.0.2");
        let proxies = TEN_MEGABYTES / proxy.len();
        let line = format!("{says}198.51.100.7{}", proxy.repeat(proxies));
        let request = request("10.0.0.1", &header, [line]);
        for ip in [ClientIp::behind(["10.0.0.0/8"]), ClientIp::hops(proxies + 1)] {
            assert_eq!(key(&reading(&header, ip), &request), "ip:198.51.100.7");
        }
    }
}

/// What a proxy writes into `Forwarded`, with what the client sent for a host in quotes.
fn any_wrote() -> impl Strategy<Value = Vec<u8>> {
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

/// Whether a key is of some address, written as keys are.
fn is_of_an_address(key: &str) -> bool {
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
    fn there_is_always_an_answer(lines in vec(any_line(), 0..4), hops in 0..5_usize) {
        for (header, _) in HEADERS {
            let request = request("10.0.0.1", &header, &lines);
            for ip in [ClientIp::behind(["10.0.0.0/8"]), ClientIp::hops(hops)] {
                let key = key(&reading(&header, ip), &request);
                prop_assert!(is_of_an_address(&key), "{}", key);
            }
        }
    }

    #[test]
    fn who_is_not_trusted_is_counted_by_address(lines in vec(any_line(), 0..4)) {
        for (header, _) in HEADERS {
            let request = request("192.0.2.1", &header, &lines);
            for ip in [ClientIp::peer(), ClientIp::behind(["10.0.0.0/8"]), ClientIp::hops(0)] {
                prop_assert_eq!(key(&reading(&header, ip), &request), "ip:192.0.2.1");
            }
        }
    }

    /// Whatever a client sent before it, on the same line or on others, the last word is the proxy's.
    #[test]
    fn what_the_proxy_wrote_counts(sent in vec(any_line(), 1..4), same_line: bool, wrote in any_wrote()) {
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
