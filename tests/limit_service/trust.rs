//! `[trust]`: client addresses and protected headers count only if the peer is a trusted proxy.

use axum::http::Method;

use super::fixture::{LimitService, TRUSTED, limit};
use support::http::Reply;

const UNTRUSTED: &str = "[trust]\nproxies = ['192.0.2.1']\n";
const WARNING: &str = "client addresses from an untrusted peer are ignored";

fn warnings(service: &LimitService) -> usize {
    service.log().lines().filter(|line| line.contains(WARNING)).count()
}

#[tokio::test]
async fn addresses_from_a_trusted_proxy_are_the_clients() {
    let by_ip = limit("client", 1, "key = 'ip'");
    let service = LimitService::start(&format!("{by_ip}{TRUSTED}"), &[]);
    for (address, status) in [
        ("203.0.113.1", 200),
        ("203.0.113.2", 200),
        ("203.0.113.1", 429),
        // The proxy appends the address of its peer to what the client sent.
        ("203.0.113.3, 203.0.113.2", 429),
    ] {
        assert_eq!(
            service.status_with(("x-forwarded-for", address)).await,
            status,
            "{address}"
        );
    }
    assert_eq!(warnings(&service), 0, "{}", service.log());
}

#[tokio::test]
async fn forwarded_is_read_if_the_rules_select_it() {
    let by_ip = limit("client", 1, "key = 'ip'");
    let service = LimitService::start(&format!("{by_ip}{TRUSTED}forwarded = 'forwarded'\n"), &[]);
    assert_eq!(service.status_with(("forwarded", "for=203.0.113.1")).await, 200);
    assert_eq!(service.status_with(("forwarded", "for=203.0.113.2")).await, 200);
    assert_eq!(
        service.status_with(("forwarded", "for=203.0.113.1;proto=https")).await,
        429
    );
}

#[tokio::test]
async fn addresses_from_an_untrusted_peer_are_ignored_and_logged_once() {
    for (trust, header) in [
        ("", "x-forwarded-for"),
        (UNTRUSTED, "x-forwarded-for"),
        (
            "[trust]\nproxies = ['192.0.2.1']\nforwarded = 'forwarded'\n",
            "forwarded",
        ),
    ] {
        let by_ip = limit("client", 1, "key = 'ip'");
        let service = LimitService::start(&format!("{by_ip}{trust}"), &[]);
        let address = |last: u8| match header {
            "forwarded" => format!("for=203.0.113.{last}"),
            _ => format!("203.0.113.{last}"),
        };
        assert_eq!(service.status_of("/").await, 200);
        assert_eq!(warnings(&service), 0, "{}", service.log());
        // The peer's own address has been counted, and these checks count by it.
        for last in 1..=3 {
            assert_eq!(service.status_with((header, &address(last))).await, 429);
        }
        let log = service.log();
        assert_eq!(warnings(&service), 1, "{log}");
        let line = log.lines().find(|line| line.contains(WARNING)).unwrap();
        for text in [" WARN tollgate::service: ", "[trust]", "peer=127.0.0.1"] {
            assert!(line.contains(text), "{line}");
        }
    }
}

#[tokio::test]
async fn only_a_trusted_proxy_sets_the_plan() {
    let by_plan = limit(
        "user",
        1,
        "key = 'global'\nplan = 'header:x-plan'\nplans.pro = { limit = 3 }",
    );
    for (proxy, quota) in [("127.0.0.1", "3"), ("192.0.2.1", "1")] {
        let trust = format!("[trust]\nproxies = ['{proxy}']\nheaders = ['x-plan']\n");
        let service = LimitService::start(&format!("{by_plan}{trust}"), &[]);
        let reply = Reply::to(service.check("/").header("x-plan", "pro")).await;
        assert_eq!((reply.status, &*reply.header("x-ratelimit-limit")), (200, quota));
        let key = service.admin(Method::GET, "/keys/user/global").await;
        assert_eq!(key.json()["remaining"], 0, "the charge is on the same key");
    }
}
