//! The gRPC health service, and the shutdown.

use tonic::Code;
use tonic_health::pb::{HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient};

use super::{GrpcService, limit};
use support::wait::with_timeout;

const SERVICE: &str = "envoy.service.ratelimit.v3.RateLimitService";

fn health_of(service: &str) -> HealthCheckRequest {
    let service = service.into();
    HealthCheckRequest { service }
}

#[tokio::test]
async fn the_server_and_its_service_are_serving() {
    let service = GrpcService::start(&limit("tenant", 1, "['tenant']"), &[]);
    let mut health = HealthClient::new(service.client.channel.clone());
    for name in ["", SERVICE] {
        let response = health.check(health_of(name)).await.unwrap().into_inner();
        assert_eq!(response.status(), ServingStatus::Serving, "{name}");
    }
    let unknown = health.check(health_of("other")).await.unwrap_err();
    assert_eq!(unknown.code(), Code::NotFound);
}

/// The drain timeout is long: the open stream must not delay the shutdown. The client's connection has a thread of its own, to
/// acknowledge the shutdown while the test waits for the exit.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_shutdown_ends_watches_with_a_last_status() {
    let mut service = GrpcService::start(&limit("tenant", 1, "['tenant']"), &["--drain-timeout", "10m"]);
    let mut health = HealthClient::new(service.client.channel.clone());
    let mut watch = health.watch(health_of(SERVICE)).await.unwrap().into_inner();
    let first = watch.message().await.unwrap().unwrap();
    assert_eq!(first.status(), ServingStatus::Serving);
    service.running.signal("-TERM");
    let last = with_timeout(watch.message()).await.unwrap().unwrap();
    assert_eq!(last.status(), ServingStatus::NotServing);
    assert_eq!(with_timeout(watch.message()).await.unwrap(), None);
    assert_eq!(service.server.running.wait_for_exit().code(), Some(0));
}
