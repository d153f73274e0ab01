//! What a response contains: codes, statuses, headers and body.

use super::{
    GrpcService,
    client::{DescriptorStatus, Duration, OK, OVER_LIMIT, RateLimit, request},
};
use support::wait::eventually;

/// A limit of descriptors whose window begins with the first request.
fn anchored(name: &str, limit: u32, window: &str, more: &str) -> String {
    format!(
        "[[limit]]\nname = '{name}'\nalgorithm = 'fixed_window'\nanchored = true\nlimit = {limit}\nwindow = '{window}'\n\
         domain = 'edge'\n{more}\n"
    )
}

fn status(
    code: i32,
    name: &str,
    (requests_per_unit, unit): (u32, i32),
    limit_remaining: u32,
    seconds: i64,
) -> DescriptorStatus {
    let name = name.into();
    DescriptorStatus {
        code,
        current_limit: Some(RateLimit {
            requests_per_unit,
            unit,
            name,
        }),
        limit_remaining,
        duration_until_reset: Some(Duration { seconds, nanos: 0 }),
    }
}

#[tokio::test]
async fn each_descriptor_has_the_status_of_its_most_restrictive_limit() {
    let rules = [
        anchored("second", 10, "1s", "descriptor = ['second']"),
        anchored("minute", 20, "1m", "descriptor = ['minute']"),
        anchored("hour", 30, "1h", "descriptor = ['hour']"),
        anchored("day", 40, "1d", "descriptor = ['day']"),
        anchored("week", 50, "7d", "descriptor = ['week']"),
        anchored("ten_seconds", 60, "10s", "descriptor = ['ten_seconds']"),
        anchored("loose", 100, "1h", "descriptor = ['two']"),
        anchored("tight", 7, "1m", "descriptor = ['two']"),
        anchored("shadow", 1, "1m", "descriptor = ['two']\nshadow = true"),
    ];
    let service = GrpcService::start(&rules.concat(), &[]);
    let names = ["second", "minute", "hour", "day", "week", "ten_seconds", "two", "none"];
    let descriptors = names.map(|name| [(name, "x")]);
    let descriptors: Vec<&[_]> = descriptors.iter().map(|entries| &entries[..]).collect();
    let response = service.client.call(request(&descriptors)).await;
    let expected = [
        status(OK, "second", (10, 1), 9, 1),
        status(OK, "minute", (20, 2), 19, 60),
        status(OK, "hour", (30, 3), 29, 3600),
        status(OK, "day", (40, 4), 39, 86400),
        status(OK, "week", (50, 7), 49, 604_800),
        // Envoy has no such unit.
        status(OK, "ten_seconds", (60, 0), 59, 10),
        status(OK, "tight", (7, 2), 6, 60),
        DescriptorStatus {
            code: OK,
            ..DescriptorStatus::default()
        },
    ];
    assert_eq!((response.overall_code, response.statuses), (OK, expected.into()));
}

#[tokio::test]
async fn the_client_gets_headers_and_a_body() {
    let rules = anchored("tenant", 2, "1h", "descriptor = ['tenant']");
    let service = GrpcService::start(&rules, &[]);
    let admitted = service.client.call(request(&[&[("tenant", "acme")]])).await;
    let headers = admitted.headers();
    let (reset, headers): (Vec<_>, Vec<_>) = headers
        .iter()
        .map(String::as_str)
        .partition(|header| header.starts_with("x-ratelimit-reset: "));
    assert_eq!(reset.len(), 1);
    let expected = [
        r#"ratelimit-policy: "tenant";q=2;w=3600"#,
        r#"ratelimit: "tenant";r=1;t=3600"#,
        "x-ratelimit-limit: 2",
        "x-ratelimit-remaining: 1",
    ];
    assert_eq!((headers, admitted.raw_body), (expected.into(), String::new()));

    service.client.call(request(&[&[("tenant", "acme")]])).await;
    let denied = service.client.call(request(&[&[("tenant", "acme")]])).await;
    assert_eq!(
        (denied.overall_code, denied.remaining()),
        (OVER_LIMIT, vec![(OVER_LIMIT, 0)])
    );
    let Duration { seconds, nanos } = denied.statuses[0].duration_until_reset.clone().unwrap();
    // In whole seconds, rounded up.
    let retry_after = seconds + i64::from(nanos > 0);
    let headers = denied.headers();
    assert!(headers.contains(&format!("retry-after: {retry_after}")), "{headers:?}");
    assert!(
        headers.contains(&"content-type: application/json".into()),
        "{headers:?}"
    );
    assert!(
        headers.contains(&format!("ratelimit: \"tenant\";r=0;t={retry_after}")),
        "{headers:?}"
    );
    let body: serde_json::Value = serde_json::from_str(&denied.raw_body).unwrap();
    assert_eq!(
        (&body["error"], &body["retry_after"]),
        (&"rate_limit_exceeded".into(), &retry_after.into())
    );
    assert_eq!(denied.request_headers_to_add, []);
}

/// A token is there earlier than all of them.
#[tokio::test]
async fn the_reset_of_a_denial_is_when_the_request_would_be_admitted() {
    let bucket = "[[limit]]\nname = 'tenant'\nalgorithm = 'token_bucket'\nlimit = 10\nwindow = '10d'\ndomain = 'edge'\n\
                  descriptor = ['tenant']";
    let service = GrpcService::start(bucket, &[]);
    let tenant = request(&[&[("tenant", "acme")]]);
    for _ in 0..10 {
        service.client.call(tenant.clone()).await;
    }
    let denied = service.client.call(tenant).await;
    let reset = denied.statuses[0].duration_until_reset.as_ref().unwrap();
    assert_eq!(denied.overall_code, OVER_LIMIT);
    assert!((1..86_400).contains(&reset.seconds), "{reset:?}");
}

#[tokio::test]
async fn a_denied_descriptor_costs_the_others_nothing() {
    let rules = [
        anchored("tenant", 3, "1h", "descriptor = ['tenant']"),
        anchored("search", 1, "1h", "descriptor = ['tenant', 'path=/search']"),
    ];
    let service = GrpcService::start(&rules.concat(), &[]);
    let search: [&[(&str, &str)]; 2] = [&[("tenant", "acme")], &[("tenant", "acme"), ("path", "/search")]];
    assert_eq!(
        service.client.call(request(&search)).await.remaining(),
        [(OK, 2), (OK, 0)]
    );
    for _ in 0..10 {
        let response = service.client.call(request(&search)).await;
        assert_eq!(
            (response.overall_code, response.remaining()),
            (OVER_LIMIT, vec![(OK, 2), (OVER_LIMIT, 0)])
        );
    }
    assert_eq!(service.client.call(request(&search[..1])).await.remaining(), [(OK, 1)]);
    assert_eq!(
        (
            service.answers("passed").await,
            service.answers("rate_limit_exceeded").await
        ),
        (2.0, 10.0)
    );
    let decisions = async |limit, outcome| {
        let sample = format!("tollgate_decisions_total{{limit=\"{limit}\",outcome=\"{outcome}\"}}");
        service.metric(&sample).await
    };
    assert_eq!(decisions("tenant", "admitted").await, 2.0);
    assert_eq!(decisions("tenant", "not_charged").await, 10.0);
    assert_eq!(decisions("search", "limited").await, 10.0);
}

#[tokio::test]
async fn changed_rules_apply_without_a_restart() {
    let rules = anchored("tenant", 1, "1h", "descriptor = ['tenant']");
    let service = GrpcService::start(&rules, &[]);
    let tenant = request(&[&[("tenant", "acme")]]);
    assert_eq!(service.client.call(tenant.clone()).await.overall_code, OK);
    assert_eq!(service.client.call(tenant.clone()).await.overall_code, OVER_LIMIT);
    std::fs::write(service.rules(), rules.replace("limit = 1\n", "limit = 3\n")).unwrap();
    eventually("the rules apply", async || {
        service.client.call(tenant.clone()).await.overall_code == OK
    })
    .await;
    // The first request still counts.
    assert_eq!(service.client.call(tenant.clone()).await.remaining(), [(OK, 0)]);
}
