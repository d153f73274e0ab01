//! Calls that cannot be decided.

use tonic::Code;

use super::{
    GrpcService,
    client::{OK, OVER_LIMIT, Request, request},
    limit,
};
use crate::server_process::socket::Socket;

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

#[tokio::test]
async fn the_number_of_descriptors_and_entries_is_bounded() {
    let service = GrpcService::start(&limit("tenant", 1000, "['tenant']"), &[]);
    let call = async |descriptors, entries| {
        let entries = vec![("tenant", "acme"); entries];
        service.client.try_call(request(&vec![&*entries; descriptors])).await
    };
    assert_eq!(call(100, 1).await.unwrap().statuses.len(), 100);
    assert_eq!(call(1, 100).await.unwrap().statuses.len(), 1);
    for (descriptors, entries) in [(101, 1), (1, 101)] {
        let status = call(descriptors, entries).await.unwrap_err();
        let message = "there are too many descriptors: the maximum is 100 of 100 entries";
        assert_eq!((status.code(), status.message()), (Code::InvalidArgument, message));
    }
}

#[tokio::test]
async fn a_value_that_is_not_utf_8_is_counted() {
    let service = GrpcService::start(&limit("tenant", 1, "['tenant']"), &[]);
    let mut bytes = request(&[&[("tenant", "")]]);
    bytes.descriptors[0].entries[0].value = b"bob\xff".to_vec();
    assert_eq!(service.client.call(bytes.clone()).await.overall_code, OK);
    assert_eq!(service.client.call(bytes).await.overall_code, OVER_LIMIT);
    assert_eq!(service.client.code(&[&[("tenant", "bob")]]).await, OK);
}

/// Before its descriptors are counted, which take more memory than bytes.
#[tokio::test]
async fn a_large_message_is_rejected() {
    let service = GrpcService::start(&limit("tenant", 1000, "['tenant']"), &[]);
    let mut large = request(&[]);
    large.descriptors = vec![Default::default(); 150_000];
    let status = service.client.try_call(large).await.unwrap_err();
    assert_eq!(status.code(), Code::OutOfRange, "{status}");
}

#[tokio::test]
async fn a_client_that_does_not_send_the_preface_is_closed() {
    let service = GrpcService::start(&limit("tenant", 1000, "['tenant']"), &["--client-timeout", "1s"]);
    for part in ["", "P", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r"] {
        let mut silent = Socket::connect_to(service.server.running.address("grpc      ")).await;
        silent.send(part).await;
        assert_eq!(silent.read_to_end().await.unwrap_or_default(), "", "{part:?}");
    }
    // Others are served meanwhile.
    let _silent = Socket::connect_to(service.server.running.address("grpc      ")).await;
    assert_eq!(service.client.code(&[&[("tenant", "acme")]]).await, OK);
}
