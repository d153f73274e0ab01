//! Requests that the gateway forwards: what the next service can believe of them.

mod hostile;
mod law;
#[path = "../../cli/src/gateway/sanitize.rs"]
#[allow(clippy::duplicate_mod, reason = "the seeds of fuzz/ are tried in the same program")]
mod sanitize;

use std::net::{IpAddr, SocketAddr};

use http::{HeaderName, HeaderValue, Request};
use tollgate::RuleSet;

use self::sanitize::sanitize_forwarded;

/// Headers in an order that does not depend on where they were put.
type Headers = Vec<(String, Vec<u8>)>;

/// Counts by address, and trusts as is said.
fn rules(trust: &str) -> RuleSet {
    let limit = "[[limit]]\nname = \"all\"\nalgorithm = \"fixed_window\"\nlimit = 1\nwindow = \"1m\"\nkey = \"ip\"\n";
    RuleSet::parse(&format!("{limit}[trust]\n{trust}")).unwrap()
}

fn trusting(more: &str) -> RuleSet {
    rules(&format!("proxies = [\"10.0.0.0/8\", \"fd00::/8\"]\n{more}"))
}

/// A request with these lines, from nobody yet.
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

/// As the gateway does it, which puts the peer there.
fn sanitize(rules: &RuleSet, request: &mut Request<()>) {
    let peer = request.extensions().get().map(SocketAddr::ip);
    sanitize_forwarded(request.headers_mut(), peer, &rules.trusted_proxies());
}

#[track_caller]
fn become_these(rules: &RuleSet, mut passed: Request<()>, expected: &[(&str, &str)]) {
    sanitize(rules, &mut passed);
    assert_eq!(headers(&passed), headers(&request(expected)));
}

/// What somebody sends who wants to be believed.
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
fn who_is_no_proxy_is_believed_nothing() {
    for (rules, added) in [
        (trusting("headers = [\"x-plan\"]"), ("x-forwarded-for", "203.0.113.9")),
        (
            trusting("headers = [\"x-plan\"]\nforwarded = \"forwarded\""),
            ("forwarded", "for=203.0.113.9"),
        ),
    ] {
        let expected = [("accept", "text/plain"), added];
        become_these(&rules, from("203.0.113.9", &SENT), &expected);
        become_these(&rules, from("203.0.113.9", &expected[..1]), &expected);
    }
}

#[test]
fn where_nobody_is_trusted_nobody_is_believed_and_other_headers_are_anybodys() {
    let expected = [SENT[0], ("x-forwarded-for", "203.0.113.9"), SENT[5], SENT[6]];
    for trust in ["", "proxies = []"] {
        become_these(&rules(trust), from("203.0.113.9", &SENT), &expected);
    }
}

#[test]
fn what_a_proxy_wrote_is_kept_as_one_line_and_the_proxy_is_added() {
    let forwarded_for = ("x-forwarded-for", "192.0.2.4,192.0.2.5, 192.0.2.6, 10.0.0.1");
    for reads in ["", "forwarded = \"x-forwarded-for\""] {
        let rules = trusting(&format!("headers = [\"x-plan\"]\n{reads}"));
        become_these(&rules, from("10.0.0.1", &SENT), &[SENT[0], forwarded_for, SENT[6]]);
    }
    let rules = trusting("forwarded = \"forwarded\"");
    let forwarded = ("forwarded", "for=192.0.2.2, for=192.0.2.3;proto=https, for=10.0.0.1");
    become_these(&rules, from("10.0.0.1", &SENT), &[SENT[0], forwarded, SENT[5], SENT[6]]);
}

#[test]
fn a_proxy_that_wrote_nothing_is_added_alone() {
    become_these(
        &trusting(""),
        from::<&str>("10.0.0.1", &[]),
        &[("x-forwarded-for", "10.0.0.1")],
    );
    let rules = trusting("forwarded = \"forwarded\"");
    become_these(&rules, from::<&str>("10.0.0.1", &[]), &[("forwarded", "for=10.0.0.1")]);
}

#[test]
fn addresses_are_written_as_each_header_has_them() {
    let (x_forwarded_for, forwarded) = (trusting(""), trusting("forwarded = \"forwarded\""));
    for (peer, plain, quoted) in [
        ("2001:db8::1", "2001:db8::1", "for=\"[2001:db8::1]\""),
        ("fd00::1", "fd00::1", "for=\"[fd00::1]\""),
        ("::ffff:203.0.113.9", "203.0.113.9", "for=203.0.113.9"),
        ("::ffff:10.0.0.1", "10.0.0.1", "for=10.0.0.1"),
        ("::1", "::1", "for=\"[::1]\""),
    ] {
        become_these(&x_forwarded_for, from::<&str>(peer, &[]), &[("x-forwarded-for", plain)]);
        become_these(&forwarded, from::<&str>(peer, &[]), &[("forwarded", quoted)]);
    }
    // Whoever is a proxy by the one spelling is one by the other.
    let sent = [("x-forwarded-for", "192.0.2.1")];
    let expected = [("x-forwarded-for", "192.0.2.1, 10.0.0.1")];
    become_these(&x_forwarded_for, from("::ffff:10.0.0.1", &sent), &expected);
}

#[test]
fn a_header_of_proxies_can_be_one_that_tells_the_way() {
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
        become_these(&rules, from("10.0.0.1", &SENT[1..5]), &[from_a_proxy]);
        become_these(&rules, from("203.0.113.9", &SENT[1..5]), &[from_a_client]);
    }
}

#[test]
fn what_else_proxies_tell_is_theirs_alone() {
    let told = [
        "x-forwarded-host",
        "x-forwarded-port",
        "x-forwarded-proto",
        "x-forwarded-ssl",
        "x-real-ip",
    ];
    let told = told.map(|name| (name, "told"));
    for peer in ["10.0.0.1", "203.0.113.9"] {
        let kept = if peer.starts_with("10.") { &told[..] } else { &[] };
        let expected = [kept, &[("x-forwarded-for", peer)]].concat();
        become_these(&trusting(""), from(peer, &told), &expected);
    }
}

/// Where headers become variables, a dash and an underscore are one.
#[test]
fn what_reads_like_one_of_these_is_nobodys() {
    let disguised = [
        "x_plan",
        "x_forwarded_for",
        "x-forwarded_proto",
        "x_forwarded-ssl",
        "x_real-ip",
    ];
    let disguised = disguised.map(|name| (name, "made up"));
    let other = [("x_request_id", "1"), ("x_planet", "earth"), ("x_forwarded", "1")];
    let rules = trusting("headers = [\"x-plan\"]");
    for peer in ["10.0.0.1", "203.0.113.9"] {
        let sent = [&disguised[..], &other].concat();
        let expected = [&other[..], &[("x-forwarded-for", peer)]].concat();
        become_these(&rules, from(peer, &sent), &expected);
    }
    // Unless it is the one that is meant.
    let rules = trusting("headers = [\"x_plan\"]");
    let sent = [("x-plan", "made up"), ("x_plan", "pro")];
    let expected = [("x-forwarded-for", "10.0.0.1"), ("x_plan", "pro")];
    become_these(&rules, from("10.0.0.1", &sent), &expected);
}

#[test]
fn cookies_of_a_proxy_are_kept_line_by_line() {
    let rules = trusting("headers = [\"cookie\"]");
    let sent = [("cookie", "session=1"), ("cookie", "theme=dark")];
    become_these(
        &rules,
        from("10.0.0.1", &sent),
        &[sent[0], sent[1], ("x-forwarded-for", "10.0.0.1")],
    );
    become_these(
        &rules,
        from("203.0.113.9", &sent),
        &[("x-forwarded-for", "203.0.113.9")],
    );
}

#[test]
fn who_has_no_address_is_believed_nothing_and_nothing_is_added() {
    for reads in ["", "forwarded = \"forwarded\""] {
        let rules = trusting(&format!("headers = [\"x-plan\"]\n{reads}"));
        become_these(&rules, request(&SENT), &SENT[..1]);
    }
}

/// A request is passed on by the rules that are in force then.
#[test]
fn who_is_trusted_can_be_replaced() {
    let rules = rules("");
    let sent = [("x-forwarded-for", "192.0.2.1")];
    become_these(&rules, from("10.0.0.1", &sent), &[("x-forwarded-for", "10.0.0.1")]);
    rules.replace(&trusting("").text()).unwrap();
    become_these(
        &rules,
        from("10.0.0.1", &sent),
        &[("x-forwarded-for", "192.0.2.1, 10.0.0.1")],
    );
}
