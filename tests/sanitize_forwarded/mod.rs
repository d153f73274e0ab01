//! Requests that the gateway forwards, and which of their headers the next service can trust.

mod hostile;
mod round_trip;
#[path = "../../cli/src/gateway/sanitize.rs"]
#[allow(clippy::duplicate_mod, reason = "the seeds of fuzz/ are tried in the same program")]
mod sanitize;

use std::net::{IpAddr, SocketAddr};

use http::{HeaderName, HeaderValue, Request};
use tollgate::RuleSet;

use self::sanitize::sanitize_forwarded;

/// Headers in an order that does not depend on the map.
type Headers = Vec<(String, Vec<u8>)>;

/// Rules that count by address, with this `[trust]` section.
fn rules(trust: &str) -> RuleSet {
    let limit = "[[limit]]\nname = \"all\"\nalgorithm = \"fixed_window\"\nlimit = 1\nwindow = \"1m\"\nkey = \"ip\"\n";
    RuleSet::parse(&format!("{limit}[trust]\n{trust}")).unwrap()
}

fn trusting(more: &str) -> RuleSet {
    rules(&format!("proxies = [\"10.0.0.0/8\", \"fd00::/8\"]\n{more}"))
}

/// A request with these header lines, without a peer.
fn request<V: AsRef<[u8]>>(lines: &[(&str, V)]) -> Request<()> {
    let mut request = Request::new(());
    for (name, value) in lines {
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        let value = HeaderValue::from_bytes(value.as_ref()).unwrap();
        request.headers_mut().append(name, value);
    }
    request
}

fn from<V: AsRef<[u8]>>(peer: &str, lines: &[(&str, V)]) -> Request<()> {
    let mut request = request(lines);
    let peer: IpAddr = peer.parse().unwrap();
    request.extensions_mut().insert(SocketAddr::new(peer, 4711));
    request
}

/// The headers, sorted by name; lines of one name stay in order.
fn headers(request: &Request<()>) -> Headers {
    let lines = request.headers().iter();
    let mut lines: Headers = lines
        .map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()))
        .collect();
    lines.sort_by(|(one, _), (other, _)| one.cmp(other));
    lines
}

/// Sanitizes a request as the gateway does, with the peer from the extensions.
fn sanitize(rules: &RuleSet, request: &mut Request<()>) {
    let peer = request.extensions().get().map(SocketAddr::ip);
    sanitize_forwarded(request.headers_mut(), peer, &rules.trusted_proxies());
}

#[track_caller]
fn assert_sanitized(rules: &RuleSet, mut passed: Request<()>, expected: &[(&str, &str)]) {
    sanitize(rules, &mut passed);
    assert_eq!(headers(&passed), headers(&request(expected)));
}

/// Headers of a client that impersonates another.
const SENT: [(&str, &str); 7] = [
    ("accept", "text/plain"),
    ("forwarded", "for=192.0.2.2"),
    ("forwarded", "for=192.0.2.3;proto=https"),
    ("x-forwarded-for", "192.0.2.4,192.0.2.5"),
    ("x-forwarded-for", "192.0.2.6"),
    ("x-plan", "free"),
    ("x-plan", "pro"),
];

#[test]
fn an_untrusted_peer_loses_all_trusted_headers() {
    for (rules, added) in [
        (trusting("headers = [\"x-plan\"]"), ("x-forwarded-for", "203.0.113.9")),
        (
            trusting("headers = [\"x-plan\"]\nforwarded = \"forwarded\""),
            ("forwarded", "for=203.0.113.9"),
        ),
    ] {
        let expected = [("accept", "text/plain"), added];
        assert_sanitized(&rules, from("203.0.113.9", &SENT), &expected);
        assert_sanitized(&rules, from("203.0.113.9", &expected[..1]), &expected);
    }
}

#[test]
fn without_trusted_proxies_only_forwarding_headers_are_removed() {
    let expected = [SENT[0], ("x-forwarded-for", "203.0.113.9"), SENT[5], SENT[6]];
    for trust in ["", "proxies = []"] {
        assert_sanitized(&rules(trust), from("203.0.113.9", &SENT), &expected);
    }
}

#[test]
fn the_lines_of_a_proxy_are_joined_and_its_address_is_appended() {
    let forwarded_for = ("x-forwarded-for", "192.0.2.4,192.0.2.5, 192.0.2.6, 10.0.0.1");
    for reads in ["", "forwarded = \"x-forwarded-for\""] {
        let rules = trusting(&format!("headers = [\"x-plan\"]\n{reads}"));
        assert_sanitized(&rules, from("10.0.0.1", &SENT), &[SENT[0], forwarded_for, SENT[6]]);
    }
    let rules = trusting("forwarded = \"forwarded\"");
    let forwarded = ("forwarded", "for=192.0.2.2, for=192.0.2.3;proto=https, for=10.0.0.1");
    assert_sanitized(&rules, from("10.0.0.1", &SENT), &[SENT[0], forwarded, SENT[5], SENT[6]]);
}

#[test]
fn a_proxy_without_a_forwarding_header_is_the_only_entry() {
    assert_sanitized(
        &trusting(""),
        from::<&str>("10.0.0.1", &[]),
        &[("x-forwarded-for", "10.0.0.1")],
    );
    let rules = trusting("forwarded = \"forwarded\"");
    assert_sanitized(&rules, from::<&str>("10.0.0.1", &[]), &[("forwarded", "for=10.0.0.1")]);
}

#[test]
fn addresses_have_the_form_of_each_header() {
    let (x_forwarded_for, forwarded) = (trusting(""), trusting("forwarded = \"forwarded\""));
    for (peer, plain, quoted) in [
        ("2001:db8::1", "2001:db8::1", "for=\"[2001:db8::1]\""),
        ("fd00::1", "fd00::1", "for=\"[fd00::1]\""),
        ("::ffff:203.0.113.9", "203.0.113.9", "for=203.0.113.9"),
        ("::ffff:10.0.0.1", "10.0.0.1", "for=10.0.0.1"),
        ("::1", "::1", "for=\"[::1]\""),
    ] {
        assert_sanitized(&x_forwarded_for, from::<&str>(peer, &[]), &[("x-forwarded-for", plain)]);
        assert_sanitized(&forwarded, from::<&str>(peer, &[]), &[("forwarded", quoted)]);
    }
    // A proxy is recognized in either form.
    let sent = [("x-forwarded-for", "192.0.2.1")];
    let expected = [("x-forwarded-for", "192.0.2.1, 10.0.0.1")];
    assert_sanitized(&x_forwarded_for, from("::ffff:10.0.0.1", &sent), &expected);
}

#[test]
fn a_trusted_header_can_be_a_forwarding_header() {
    let guarding = |reads: &str| trusting(&format!("headers = [\"X-Forwarded-For\", \"Forwarded\"]\n{reads}"));
    for (rules, from_a_proxy, from_a_client) in [
        (
            guarding(""),
            ("x-forwarded-for", "192.0.2.4,192.0.2.5, 192.0.2.6, 10.0.0.1"),
            ("x-forwarded-for", "203.0.113.9"),
        ),
        (
            guarding("forwarded = \"forwarded\""),
            ("forwarded", "for=192.0.2.2, for=192.0.2.3;proto=https, for=10.0.0.1"),
            ("forwarded", "for=203.0.113.9"),
        ),
    ] {
        assert_sanitized(&rules, from("10.0.0.1", &SENT[1..5]), &[from_a_proxy]);
        assert_sanitized(&rules, from("203.0.113.9", &SENT[1..5]), &[from_a_client]);
    }
}

/// A proxy that appends its header instead of replacing it leaves the line of the client in front of its own.
#[test]
fn the_last_line_of_a_trusted_header_is_kept() {
    for name in ["x-plan", "x-forwarded-user", "x-real-ip"] {
        let rules = trusting(&format!("headers = [\"{name}\"]"));
        let (sent, address) = ([(name, "forged"), (name, "last")], ("x-forwarded-for", "10.0.0.1"));
        assert_sanitized(&rules, from("10.0.0.1", &sent), &[address, sent[1]]);
        assert_sanitized(
            &rules,
            from("203.0.113.9", &sent),
            &[("x-forwarded-for", "203.0.113.9")],
        );
    }
}

#[test]
fn other_forwarding_headers_are_kept_only_from_proxies() {
    let sent = [
        "x-forwarded-host",
        "x-forwarded-port",
        "x-forwarded-proto",
        "x-forwarded-ssl",
        "x-real-ip",
    ];
    let sent = sent.map(|name| (name, "sent"));
    for peer in ["10.0.0.1", "203.0.113.9"] {
        let kept = if peer.starts_with("10.") { &sent[..] } else { &[] };
        let expected = [kept, &[("x-forwarded-for", peer)]].concat();
        assert_sanitized(&trusting(""), from(peer, &sent), &expected);
    }
}

/// Where headers become environment variables, a dash and an underscore are the same.
#[test]
fn lookalikes_of_trusted_headers_are_removed() {
    let lookalikes = [
        "x_plan",
        "x_forwarded_for",
        "x-forwarded_proto",
        "x_forwarded-ssl",
        "x_real-ip",
    ];
    let lookalikes = lookalikes.map(|name| (name, "made up"));
    let other = [("x_request_id", "1"), ("x_planet", "earth"), ("x_forwarded", "1")];
    let rules = trusting("headers = [\"x-plan\"]");
    for peer in ["10.0.0.1", "203.0.113.9"] {
        let sent = [&lookalikes[..], &other].concat();
        let expected = [&other[..], &[("x-forwarded-for", peer)]].concat();
        assert_sanitized(&rules, from(peer, &sent), &expected);
    }
    // Except if it is the configured header.
    let rules = trusting("headers = [\"x_plan\"]");
    let sent = [("x-plan", "made up"), ("x_plan", "pro")];
    let expected = [("x-forwarded-for", "10.0.0.1"), ("x_plan", "pro")];
    assert_sanitized(&rules, from("10.0.0.1", &sent), &expected);
}

#[test]
fn cookies_of_a_proxy_stay_on_separate_lines() {
    let rules = trusting("headers = [\"cookie\"]");
    let sent = [("cookie", "session=1"), ("cookie", "theme=dark")];
    assert_sanitized(
        &rules,
        from("10.0.0.1", &sent),
        &[sent[0], sent[1], ("x-forwarded-for", "10.0.0.1")],
    );
    assert_sanitized(
        &rules,
        from("203.0.113.9", &sent),
        &[("x-forwarded-for", "203.0.113.9")],
    );
}

#[test]
fn a_request_without_a_peer_loses_all_trusted_headers_and_gets_no_entry() {
    for reads in ["", "forwarded = \"forwarded\""] {
        let rules = trusting(&format!("headers = [\"x-plan\"]\n{reads}"));
        assert_sanitized(&rules, request(&SENT), &SENT[..1]);
    }
}

/// The current rules apply to each request.
#[test]
fn trusted_proxies_can_be_replaced() {
    let rules = rules("");
    let sent = [("x-forwarded-for", "192.0.2.1")];
    assert_sanitized(&rules, from("10.0.0.1", &sent), &[("x-forwarded-for", "10.0.0.1")]);
    rules.replace(&trusting("").text()).unwrap();
    assert_sanitized(
        &rules,
        from("10.0.0.1", &sent),
        &[("x-forwarded-for", "192.0.2.1, 10.0.0.1")],
    );
}
