//! Extractors that cannot be built, and in which words they are refused: as an error, and as a panic.

use std::{
    fmt::Debug,
    panic::{UnwindSafe, catch_unwind},
};

use tollgate::{ApiKey, ClientIp, Header, Invalid};

/// Both twins refuse: the one returns the error, the other panics with its words.
#[track_caller]
fn refused<T: Debug>(returns: Result<T, Invalid>, panics: impl FnOnce() -> T + UnwindSafe, text: &str) {
    let error = returns.unwrap_err();
    assert_eq!(error.to_string(), text);
    assert_eq!(text.split_once(" = ").unwrap().0, error.field());
    assert_eq!(*catch_unwind(panics).unwrap_err().downcast::<String>().unwrap(), text);
}

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
