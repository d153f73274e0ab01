//! Trusted proxies, by address.

use http::{Request, header::FORWARDED};
use tollgate::ClientIp;

use super::fixture::{X_FORWARDED_FOR, key, request, x_forwarded_for};

fn behind() -> ClientIp {
    ClientIp::trusted_proxies(["10.0.0.0/8", "192.0.2.1", "fd00::/8"])
}

#[test]
fn an_untrusted_peer_is_counted_by_address_whatever_it_sends() {
    for peer in ["203.0.113.9", "11.0.0.1", "192.0.2.2", "fc00::1", "::10.0.0.1"] {
        let alone = x_forwarded_for(&behind(), peer, &[]);
        for line in ["198.51.100.7", "10.0.0.1", "198.51.100.7, 10.0.0.1", "", "unknown"] {
            assert_eq!(x_forwarded_for(&behind(), peer, &[line]), alone);
        }
    }
    assert_eq!(
        x_forwarded_for(&behind(), "203.0.113.9", &["198.51.100.7"]),
        "ip:203.0.113.9"
    );
}

#[test]
fn the_client_is_the_rightmost_address_that_is_not_a_proxy() {
    let cases: [&[&str]; 14] = [
        &["198.51.100.7"],
        &["198.51.100.7, 10.0.0.2"],
        &["198.51.100.7,10.0.0.2 ,\t192.0.2.1"],
        &["198.51.100.7, fd00::1, 10.0.0.2"],
        // Entries on the left come from the client.
        &["203.0.113.9, 198.51.100.7"],
        &["10.0.0.9, 198.51.100.7"],
        &["203.0.113.9, 198.51.100.7, 10.0.0.2"],
        &["203.0.113.9, 10.0.0.9, 198.51.100.7, 10.0.0.2"],
        &["\"203.0.113.9, 198.51.100.7"],
        // The lines form one list.
        &["203.0.113.9", "198.51.100.7"],
        &["198.51.100.7", "10.0.0.2"],
        &["203.0.113.9, 198.51.100.7", "10.0.0.2, 10.0.0.3", "10.0.0.4"],
        &["unknown", "198.51.100.7", "10.0.0.2"],
        &["10.0.0.2", "203.0.113.9", "198.51.100.7, 10.0.0.2"],
    ];
    for lines in cases {
        for peer in ["10.0.0.1", "10.255.255.255", "192.0.2.1", "fd12::1"] {
            assert_eq!(x_forwarded_for(&behind(), peer, lines), "ip:198.51.100.7", "{lines:?}");
        }
    }
}

#[test]
fn if_all_are_proxies_the_client_is_the_leftmost() {
    assert_eq!(x_forwarded_for(&behind(), "10.0.0.1", &[]), "ip:10.0.0.1");
    assert_eq!(
        x_forwarded_for(&behind(), "10.0.0.1", &["10.0.0.4, 10.0.0.3, 10.0.0.2"]),
        "ip:10.0.0.4"
    );
    assert_eq!(
        x_forwarded_for(&behind(), "10.0.0.1", &["10.0.0.4", "10.0.0.3, 10.0.0.2"]),
        "ip:10.0.0.4"
    );
    let all_trusted = ClientIp::trusted_proxies(["0.0.0.0/0", "::/0"]);
    assert_eq!(
        x_forwarded_for(&all_trusted, "10.0.0.1", &["203.0.113.9, ::1, 198.51.100.7"]),
        "ip:203.0.113.9"
    );
}

#[test]
fn an_entry_that_is_not_an_address_ends_the_chain() {
    let others = [
        "",
        "unknown",
        "_hidden",
        "10.0.0",
        "10.0.0.256",
        "010.0.0.2",
        "10.0.0.2:",
        "10.0.0.2:80:80",
        "[10.0.0.2]",
        "[10.0.0.2]:80",
        "[::1]80",
        "[[::1]]",
        ":80",
        "[::1",
        "::1]",
        "[::1]:",
        "::g",
        "10.0.0.2 10.0.0.3",
        "\"198.51.100.7\"",
        "for=198.51.100.7",
        "10.0.0.0/8",
        "localhost",
        "\u{661}",
    ];
    for other in others {
        let cases = [
            (format!("198.51.100.7, {other}"), "ip:10.0.0.1"),
            (format!("198.51.100.7, {other}, 10.0.0.3, 10.0.0.2"), "ip:10.0.0.3"),
            (
                format!("198.51.100.7, {other}, 203.0.113.9, 10.0.0.2"),
                "ip:203.0.113.9",
            ),
        ];
        for (line, text) in cases {
            assert_eq!(x_forwarded_for(&behind(), "10.0.0.1", &[&line]), text, "{line:?}");
        }
    }
    let bytes: [&[u8]; 3] = [b"\xff", b"198.51.100.\xff", b"198.51.100.7, \xff"];
    for line in bytes {
        assert_eq!(
            key(&behind(), &request("10.0.0.1", &X_FORWARDED_FOR, [line])),
            "ip:10.0.0.1"
        );
    }
}

#[test]
fn an_address_can_have_a_port_brackets_or_be_ipv4_mapped() {
    let cases = [
        ("198.51.100.7:4711", "ip:198.51.100.7"),
        ("198.51.100.7:_hidden", "ip:198.51.100.7"),
        ("::ffff:198.51.100.7", "ip:198.51.100.7"),
        ("[::ffff:198.51.100.7]", "ip:198.51.100.7"),
        ("[::ffff:198.51.100.7]:4711", "ip:198.51.100.7"),
        ("2001:db8::1", "ip:[2001:db8::]/64"),
        ("2001:DB8:0:0:0:0:0:1", "ip:[2001:db8::]/64"),
        ("[2001:db8::1]", "ip:[2001:db8::]/64"),
        ("[2001:db8::1]:4711", "ip:[2001:db8::]/64"),
        ("[2001:db8::1]:_hidden", "ip:[2001:db8::]/64"),
        // Proxies are recognized in all of these forms.
        ("198.51.100.7, 10.0.0.2:4711", "ip:198.51.100.7"),
        ("198.51.100.7, ::ffff:10.0.0.2", "ip:198.51.100.7"),
        ("198.51.100.7, [::ffff:10.0.0.2]:4711", "ip:198.51.100.7"),
        ("198.51.100.7, [fd00::1]:4711, [fd00::2]", "ip:198.51.100.7"),
    ];
    for (line, text) in cases {
        for peer in ["10.0.0.1", "::ffff:10.0.0.1"] {
            assert_eq!(x_forwarded_for(&behind(), peer, &[line]), text, "{line:?}");
        }
    }
}

#[test]
fn an_address_from_a_header_is_counted_by_its_network_too() {
    let by = |bits| x_forwarded_for(&behind().ipv6_prefix(bits), "10.0.0.1", &["2001:db8:1:2:3::1"]);
    assert_eq!(by(48), "ip:[2001:db8:1::]/48");
    assert_eq!(by(128), "ip:[2001:db8:1:2:3::1]");
}

#[test]
fn proxies_are_networks_or_single_addresses() {
    let cases = [
        ("10.0.0.0/8", "10.255.255.255", "11.0.0.0"),
        ("10.1.2.3/8", "10.255.255.255", "11.0.0.0"),
        ("10.0.0.1/32", "10.0.0.1", "10.0.0.2"),
        ("10.0.0.1", "10.0.0.1", "10.0.0.2"),
        ("::ffff:10.0.0.1", "10.0.0.1", "10.0.0.2"),
        ("::ffff:10.0.0.1/128", "10.0.0.1", "10.0.0.2"),
        ("::ffff:10.0.0.0/104", "10.255.255.255", "11.0.0.0"),
        ("::ffff:0.0.0.0/96", "255.255.255.255", "::1"),
        ("fd00::/8", "fdff::1", "fe00::"),
        ("fd00::1", "fd00::1", "fd00::2"),
        ("0.0.0.0/0", "255.255.255.255", "::1"),
        ("::/0", "::1", "10.0.0.1"),
    ];
    for (network, inside, outside) in cases {
        let behind = ClientIp::trusted_proxies([network.to_owned()]);
        assert_eq!(
            x_forwarded_for(&behind, inside, &["198.51.100.7"]),
            "ip:198.51.100.7",
            "{network}"
        );
        let alone = x_forwarded_for(&ClientIp::peer(), outside, &[]);
        assert_eq!(x_forwarded_for(&behind, outside, &["198.51.100.7"]), alone, "{network}");
    }
    let none_trusted = ClientIp::trusted_proxies([""; 0]);
    assert_eq!(
        x_forwarded_for(&none_trusted, "10.0.0.1", &["198.51.100.7"]),
        "ip:10.0.0.1"
    );
}

#[test]
fn only_one_header_is_read() {
    let request = |without: &str| -> Request<()> {
        let mut request = request("10.0.0.1", &X_FORWARDED_FOR, ["198.51.100.7"]);
        let headers = request.headers_mut();
        headers.insert(FORWARDED, "for=198.51.100.8".parse().unwrap());
        headers.insert("x-real-ip", "198.51.100.9".parse().unwrap());
        headers.remove(without);
        request
    };
    for ip in [behind(), ClientIp::trusted_hops(1)] {
        assert_eq!(key(&ip, &request("forwarded")), "ip:198.51.100.7");
        assert_eq!(key(&ip, &request("x-forwarded-for")), "ip:10.0.0.1");
        let ip = ip.forwarded();
        assert_eq!(key(&ip, &request("x-forwarded-for")), "ip:198.51.100.8");
        assert_eq!(key(&ip, &request("forwarded")), "ip:10.0.0.1");
    }
}
