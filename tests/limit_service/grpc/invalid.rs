//! Calls that cannot be decided.

use tonic::Code;

use super::{
    GrpcService,
    client::{OK, Request, request},
    limit,
};

#[tokio::test]
async fn a_call_without_a_domain_or_descriptors_is_an_invalid_argument() {
    let service = GrpcService::start(&limit("tenant", 1, "['tenant']"), &[]);
    let tenant = request(&[&[("tenant", "acme")]]);
    let without_domain = Request {
        domain: String::new(),
        ..tenant.clone()
    };
    let cases = [
        (
            without_domain,
            "the domain is empty: set `domain` in the proxy's rate limit filter",
        ),
        (
            request(&[]),
            "there are no descriptors: set `rate_limits` in the proxy's routes",
        ),
    ];
    for (invalid, message) in cases {
        let status = service.client.try_call(invalid).await.unwrap_err();
        assert_eq!((status.code(), status.message()), (Code::InvalidArgument, message));
    }
    assert_eq!(service.answers("bad_request").await, 2.0);
    assert_eq!(service.client.call(tenant).await.overall_code, OK);
}

#[tokio::test]
async fn another_method_is_unimplemented() {
    let service = GrpcService::start(&limit("tenant", 1, "['tenant']"), &[]);
    let status = service
        .client
        .call_method("GetRateLimits", request(&[]))
        .await
        .unwrap_err();
    assert_eq!(
        (status.code(), status.message()),
        (Code::Unimplemented, "the only method is ShouldRateLimit")
    );
}

#[tokio::test]
async fn a_descriptor_without_entries_matches_no_limit() {
    let service = GrpcService::start(&limit("tenant", 1, "['tenant']"), &[]);
    for _ in 0..3 {
        assert_eq!(service.client.call(request(&[&[]])).await.remaining(), [(OK, 0)]);
    }
}
