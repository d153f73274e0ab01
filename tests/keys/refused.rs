//! Extractors that cannot be built, and in which words they are refused: as an error, and as a panic.

use tollgate::{ApiKey, ClientIp, Header};

use support::twins::refused;

#[test]
fn a_header_that_cannot_be_called_that() {
    for name in ["bad name", "", "a:b", "a\n", "\0", "na\u{ef}ve", "(a)", "a/b"] {
        let text = format!("header = {name:?}: it must be the name of a header, like x-user-id");
        refused(Header::try_new(name), || Header::new(name), &text);
        refused(ApiKey::try_header(name), || ApiKey::header(name), &text);
    }
}

#[test]
fn a_proxy_that_is_neither_an_address_nor_a_network() {
    let others = [
        "300.0.0.0/8",
        "10.0.0.0/33",
        "fd00::/129",
        "10.0.0.0/",
        "10.0.0",
        "",
        "proxy",
        "10.0.0.1:80",
        "[::1]",
    ];
    for proxy in others {
        let must = "be an address or a network, like 10.0.0.0/8 or fd00::/8";
        let text = format!("proxies = {proxy:?}: it must {must}");
        refused(ClientIp::try_behind([proxy]), || ClientIp::behind([proxy]), &text);
        let (good, bad) = ("10.0.0.0/8", proxy);
        refused(
            ClientIp::try_behind([good, bad]),
            || ClientIp::behind([good, bad]),
            &text,
        );
    }
    assert!(ClientIp::try_behind(["10.0.0.0/8", "192.0.2.1", "fd00::/8", "::1", "0.0.0.0/0"]).is_ok());
}

#[test]
fn a_prefix_that_no_address_has() {
    for bits in [0, 129, 255] {
        let text = format!("ipv6_prefix = {bits}: it must be from 1 to 128");
        let ip = ClientIp::peer;
        refused(ip().try_ipv6_prefix(bits), || ip().ipv6_prefix(bits), &text);
    }
    for bits in [1, 64, 128] {
        assert!(ClientIp::peer().try_ipv6_prefix(bits).is_ok());
    }
}

#[test]
fn a_network_that_is_none() {
    for wrong in [
        "",
        "10.0.0.0/33",
        "10.0.0",
        "localhost",
        "fd00::/129",
        "10.0.0.0/-1",
        " 10.0.0.1",
    ] {
        let networks = ["10.0.0.0/8", wrong];
        let text = format!("networks = {wrong:?}: it must be an address or a network, like 10.0.0.0/8 or fd00::/8");
        let ip = ClientIp::peer;
        refused(ip().try_within(networks), || ip().within(networks), &text);
    }
}
