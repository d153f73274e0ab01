//! The service does not see responses, so outcomes change no charge.

use axum::http::Method;

use super::fixture::{LimitService, limit};

#[tokio::test]
async fn admitted_requests_are_not_refunded() {
    for status in ["'2xx'", "['2xx', '3xx', '4xx', '5xx']", "200"] {
        let rules = limit("logins", 2, &format!("key = 'global'\nrefund_status = {status}"));
        let service = LimitService::start(&rules, &[]);
        for expected in [200, 200, 429] {
            assert_eq!(service.status_of("/").await, expected, "{status}");
        }
    }
}

#[tokio::test]
async fn admitted_requests_are_charged_their_cost() {
    let rules = limit(
        "tokens",
        10,
        "key = 'global'\ncost = 4\nsettle_json = 'usage.total_tokens'",
    );
    let service = LimitService::start(&rules, &[]);
    for (status, remaining) in [(200, 6), (200, 2), (429, 2)] {
        assert_eq!(service.status_of("/").await, status);
        let key = service.admin(Method::GET, "/keys/tokens/global").await;
        assert_eq!(key.json()["remaining"], remaining);
    }
}
