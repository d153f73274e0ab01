//! Two clients at one port, and one limit.

use tonic::{Code, Status, transport::Endpoint};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

use support::project::example;

use crate::examples::{Server, header};

#[tokio::test]
async fn grpc() {
    let server = Server::start(example("grpc"));
    let channel = Endpoint::from_shared(server.at.clone()).unwrap().connect_lazy();
    let mut health = HealthClient::new(channel);
    assert_eq!(server.statuses(2, "/hello", ("x-none", "")).await, [200; 2]);
    let response = health.check(HealthCheckRequest::default()).await.unwrap();
    assert_eq!(response.metadata().get("x-ratelimit-remaining").unwrap(), "0");

    let refused: Status = health.check(HealthCheckRequest::default()).await.unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert!(refused.metadata().contains_key("grpc-retry-pushback-ms"));
    let plain = server.get("/hello", ("x-none", "")).await;
    assert_eq!(plain.status(), 429);
    assert_eq!(header(&plain, "content-type"), "application/json");
}
