//! A fixed number of trusted hops, regardless of the addresses of the proxies.

use tollgate::ClientIp;

use super::fixture::{forwarded, x_forwarded_for};

#[test]
fn the_client_is_this_many_hops_from_the_right() {
    let lines: &[&str] = &["192.0.2.9, 192.0.2.4", "192.0.2.3, 192.0.2.2"];
    let cases = [
        (0, "ip:192.0.2.1"),
        (1, "ip:192.0.2.2"),
        (2, "ip:192.0.2.3"),
        (3, "ip:192.0.2.4"),
        (4, "ip:192.0.2.9"),
        // A request with fewer hops did not pass through every proxy.
        (5, "ip:192.0.2.1"),
        (usize::MAX, "ip:192.0.2.1"),
    ];
    for (hops, text) in cases {
        assert_eq!(x_forwarded_for(&ClientIp::trusted_hops(hops), "192.0.2.1", lines), text);
    }
}

#[test]
fn hops_are_counted_in_either_header() {
    let lines: &[&str] = &["for=192.0.2.9, for=192.0.2.3;proto=http", "for=\"[2001:db8::1]:4711\""];
    let cases = [
        (0, "ip:192.0.2.1"),
        (1, "ip:[2001:db8::]/64"),
        (2, "ip:192.0.2.3"),
        (3, "ip:192.0.2.9"),
        (4, "ip:192.0.2.1"),
    ];
    for (hops, text) in cases {
        assert_eq!(
            forwarded(&ClientIp::trusted_hops(hops).forwarded(), "192.0.2.1", lines),
            text
        );
    }
}

#[test]
fn a_request_without_hops_is_counted_by_its_peer() {
    for hops in [0, 1, 2] {
        assert_eq!(
            x_forwarded_for(&ClientIp::trusted_hops(hops), "192.0.2.1", &[]),
            "ip:192.0.2.1"
        );
        assert_eq!(
            forwarded(&ClientIp::trusted_hops(hops).forwarded(), "192.0.2.1", &[]),
            "ip:192.0.2.1"
        );
    }
}

#[test]
fn an_entry_that_is_not_an_address_ends_the_hops() {
    let cases = [
        (1, "192.0.2.3, unknown", "ip:192.0.2.1"),
        (2, "192.0.2.3, unknown", "ip:192.0.2.1"),
        (1, "unknown, 192.0.2.2", "ip:192.0.2.2"),
        (2, "unknown, 192.0.2.2", "ip:192.0.2.1"),
        (3, "192.0.2.3, , 192.0.2.2", "ip:192.0.2.1"),
    ];
    for (hops, line, text) in cases {
        assert_eq!(
            x_forwarded_for(&ClientIp::trusted_hops(hops), "192.0.2.1", &[line]),
            text
        );
    }
}

#[test]
fn equal_addresses_are_separate_hops() {
    assert_eq!(
        x_forwarded_for(
            &ClientIp::trusted_hops(2),
            "10.0.0.1",
            &["192.0.2.3, 10.0.0.1, 10.0.0.1"]
        ),
        "ip:10.0.0.1"
    );
    assert_eq!(
        x_forwarded_for(
            &ClientIp::trusted_hops(3),
            "10.0.0.1",
            &["192.0.2.3, 10.0.0.1, 10.0.0.1"]
        ),
        "ip:192.0.2.3"
    );
}
