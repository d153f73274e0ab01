//! Extractors that cannot be built: the error, and the panic with the same message.

use tollgate::{ApiKey, ClientIp, Header};

use support::constructors::assert_invalid;

#[test]
fn an_invalid_header_name() {
    for name in ["bad name", "", "a:b", "a\n", "\0", "na\u{ef}ve", "(a)", "a/b"] {
        let text = format!("header = {name:?}: it must be the name of a header, like x-user-id");
        assert_invalid(Header::try_new(name), || Header::new(name), &text);
        assert_invalid(ApiKey::try_header(name), || ApiKey::header(name), &text);
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
        assert_invalid(
            ClientIp::try_trusted_proxies([proxy]),
            || ClientIp::trusted_proxies([proxy]),
            &text,
        );
        let (good, bad) = ("10.0.0.0/8", proxy);
        assert_invalid(
            ClientIp::try_trusted_proxies([good, bad]),
            || ClientIp::trusted_proxies([good, bad]),
            &text,
        );
    }
    assert!(ClientIp::try_trusted_proxies(["10.0.0.0/8", "192.0.2.1", "fd00::/8", "::1", "0.0.0.0/0"]).is_ok());
}

#[test]
fn an_ipv6_prefix_out_of_range() {
    for bits in [0, 129, 255] {
        let text = format!("ipv6_prefix = {bits}: it must be from 1 to 128");
        let ip = ClientIp::peer;
        assert_invalid(ip().try_ipv6_prefix(bits), || ip().ipv6_prefix(bits), &text);
    }
    for bits in [1, 64, 128] {
        assert!(ClientIp::peer().try_ipv6_prefix(bits).is_ok());
    }
}

#[test]
fn an_invalid_network() {
    for invalid in [
        "",
        "10.0.0.0/33",
        "10.0.0",
        "localhost",
        "fd00::/129",
        "10.0.0.0/-1",
        " 10.0.0.1",
    ] {
        let networks = ["10.0.0.0/8", invalid];
        let text = format!("networks = {invalid:?}: it must be an address or a network, like 10.0.0.0/8 or fd00::/8");
        let ip = ClientIp::peer;
        assert_invalid(ip().try_in_networks(networks), || ip().in_networks(networks), &text);
    }
}
