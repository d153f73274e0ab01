//! The address of the client, whatever is in the header: nobody's whom the proxies did not see.
//!
//! An input is lines of the header, as they came. The first one also says what proxies add to the others.

mod asked;
#[path = "../../../cli/src/gateway/sanitize.rs"]
#[allow(
    clippy::duplicate_mod,
    reason = "the tests of it are in the same program as those of the seeds"
)]
mod sanitize;
mod wrote;

use std::sync::LazyLock;

use http::HeaderValue;
use tollgate::RuleSet;

use self::{
    asked::{Asked, HOPS, Told, from, is_trusted, moved},
    sanitize::sanitize_forwarded,
    wrote::Wrote,
};

/// The proxy that every request comes from, and somebody who is none.
const PROXY: &str = "10.0.0.1";
const OUTSIDER: &str = "203.0.113.200";
/// Whom the service itself is for whoever comes next.
const HERE: &str = "127.0.0.1";

/// How many lines are looked at.
const LINES: usize = 8;

/// Lines of a header, from whoever wrote them.
pub fn client_ip(input: &[u8]) {
    let lines = input.split(|byte| *byte == b'\n').take(LINES).map(value);
    let lines: Vec<HeaderValue> = lines.collect();
    for forwarded in [false, true] {
        hang_together(forwarded, &lines);
        for first in 1..lines.len() {
            is_not_moved(forwarded, &lines[..first], &lines[first..]);
        }
        let wrote = Wrote::new(forwarded, lines[0].as_bytes(), lines.last().expect("one at least"));
        wrote.counts(&lines[1..]);
        is_passed_on(forwarded, &lines);
    }
}

/// A line as a header may have it.
fn value(line: &[u8]) -> HeaderValue {
    let kept = |byte: &u8| *byte == b'\t' || !byte.is_ascii_control();
    let line: Vec<u8> = line.iter().copied().filter(kept).collect();
    HeaderValue::from_bytes(&line).expect("what is no control character may be in a header")
}

/// Counting proxies and naming them tell of the same way: the first on it who is no proxy is the client, and a proxy is told
/// only if nobody else can be.
fn hang_together(forwarded: bool, lines: &[HeaderValue]) {
    let asked = Asked::by(forwarded);
    let request = from(PROXY, forwarded, lines);
    let way: Vec<_> = (0..HOPS)
        .map_while(|hops| asked.hops(hops, &request).client())
        .collect();
    let stranger = way.iter().find(|hop| !is_trusted(**hop));
    let told = asked.behind(&request);
    match stranger {
        Some(stranger) => assert_eq!(told, Told::Client(*stranger)),
        None if way.len() < HOPS => assert_eq!(told.address(), way[way.len() - 1]),
        None => {}
    }
    // Too few hops are nobody's but the peer's.
    if way.len() < HOPS {
        assert_eq!(
            asked.hops(way.len(), &request),
            Told::Proxy(PROXY.parse().expect("an address"))
        );
    }
    // Who is not trusted is believed nothing.
    let told = asked.behind(&from(OUTSIDER, forwarded, lines));
    assert_eq!(told, Told::Client(OUTSIDER.parse().expect("an address")));
}

/// Whatever a client sent before it, on lines of its own or on the same one, who was told is told. Where proxies leave a quote
/// open, nobody knows where their words begin.
fn is_not_moved(forwarded: bool, sent: &[HeaderValue], wrote: &[HeaderValue]) {
    if !wrote.iter().all(wrote::pairs_up) {
        return;
    }
    let asked = Asked::by(forwarded);
    let alone = from(PROXY, forwarded, wrote);
    let mut joined = [sent, wrote].concat();
    let own_lines = from(PROXY, forwarded, &joined);
    let line = [joined[sent.len() - 1].as_bytes(), b",", wrote[0].as_bytes()].concat();
    joined[sent.len() - 1] = value(&line);
    joined.remove(sent.len());
    let one_line = from(PROXY, forwarded, &joined);
    for request in [&own_lines, &one_line] {
        if let Some(client) = asked.behind(&alone).client().filter(|client| !is_trusted(*client)) {
            assert_eq!(asked.behind(request), Told::Client(client));
        }
        for hops in 1..4 {
            if let Some(client) = asked.hops(hops, &alone).client() {
                assert_eq!(asked.hops(hops, request), Told::Client(client));
            }
        }
    }
}

/// A service by the same rules, and the next one, which trusts it as well.
static SERVICES: LazyLock<[[RuleSet; 2]; 2]> = LazyLock::new(|| {
    ["x-forwarded-for", "forwarded"].map(|header| {
        let proxies = asked::PROXIES.map(|proxy| format!("\"{proxy}\"")).join(", ");
        let rules = |proxies: &str| {
            let limit = "name = \"all\"\nalgorithm = \"fixed_window\"\nlimit = 1\nwindow = \"1m\"\nkey = \"ip\"";
            let trust = format!("proxies = [{proxies}]\nforwarded = \"{header}\"");
            RuleSet::parse(&format!("[[limit]]\n{limit}\n[trust]\n{trust}")).expect("these are rules")
        };
        [rules(&proxies), rules(&format!("{proxies}, \"{HERE}\""))]
    })
});

/// Whoever comes next, and trusts this service, finds the client that was counted here.
fn is_passed_on(forwarded: bool, lines: &[HeaderValue]) {
    let [here, next] = &SERVICES[usize::from(forwarded)];
    let peer = [PROXY, OUTSIDER, "fd00::1"][lines[0].len() % 3];
    let mut request = from(peer, forwarded, lines);
    let counted = here.charges(&request).expect("it has an address");
    let peer = peer.parse().expect("an address");
    sanitize_forwarded(request.headers_mut(), Some(peer), &here.trusted_proxies());
    let found = next.charges(&moved(request, HERE)).expect("it has an address");
    assert_eq!(format!("{counted:?}"), format!("{found:?}"));
}
