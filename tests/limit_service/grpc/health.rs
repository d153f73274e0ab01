//! The gRPC health service, and the shutdown.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
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

/// The server waits for the acknowledgement of its shutdown, which this client does not send.
#[tokio::test]
async fn a_client_that_does_not_respond_delays_a_shutdown_until_the_drain_timeout() {
    let mut service = GrpcService::start(&limit("tenant", 1, "['tenant']"), &["--drain-timeout", "500ms"]);
    let mut client = TcpStream::connect(service.running.address("grpc      ")).await.unwrap();
    let empty_settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    let preface = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".as_slice(), &empty_settings].concat();
    client.write_all(&preface).await.unwrap();
    with_timeout(client.read_u8()).await.unwrap();
    service.running.signal("-TERM");
    assert_eq!(service.server.running.wait_for_exit().code(), Some(0));
    let log = service.log();
    assert!(
        log.contains("drain timeout elapsed") && log.contains("--drain-timeout"),
        "{log}"
    );
}
