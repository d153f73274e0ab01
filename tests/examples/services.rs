//! Examples of services: limits per route, tiers, keys, gRPC, and the listen address.

use std::net::TcpListener;

use reqwest::Client;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tonic::{Code, Status, transport::Endpoint};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

use support::{folder::Folder, project::example, wait::eventually};

use crate::examples::{Server, header, remaining};

#[tokio::test]
async fn per_route() {
    let server = Server::start(example("per_route"));
    let login = || Client::new().post(format!("{}/login", server.url)).send();
    let mut statuses = Vec::new();
    for _ in 0..4 {
        statuses.push(login().await.unwrap().status().as_u16());
    }
    assert_eq!(statuses, [200, 200, 200, 429]);
    assert_eq!(server.statuses(9, "/login", ("x-none", "")).await, [200; 9]);
    assert_eq!(server.statuses(9, "/healthz", ("x-none", "")).await, [200; 9]);
    for (path, policy) in [
        ("/search", r#""search";q=5;w=1"#),
        ("/notes/1", r#""default";q=60;w=60"#),
    ] {
        assert_eq!(
            header(&server.get(path, ("x-none", "")).await, "ratelimit-policy"),
            policy
        );
    }
}

/// Two processes share the limit of five.
#[tokio::test]
async fn sqlite() {
    let folder = Folder::new("sqlite");
    let start = || {
        let mut example = example("sqlite");
        example.arg(folder.path().join("limits.db"));
        Server::start(example)
    };
    let servers = [start(), start()];
    let mut statuses = Vec::new();
    for server in servers.iter().cycle().take(7) {
        statuses.extend(server.statuses(1, "/", ("x-none", "")).await);
    }
    assert_eq!(statuses, [200, 200, 200, 200, 200, 429, 429]);
}

/// Two WebSockets per client at once, each until it is closed.
#[tokio::test]
async fn websocket() {
    const UPGRADE: &str = "GET /chat HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\
        sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n\r\n";
    let server = Server::start(example("websocket"));
    let address = server.url.trim_start_matches("http://").to_owned();
    let open = async || {
        let mut socket = TcpStream::connect(&address).await.unwrap();
        socket.write_all(UPGRADE.as_bytes()).await.unwrap();
        let mut status = [0; 12];
        socket.read_exact(&mut status).await.unwrap();
        (socket, String::from_utf8(status.to_vec()).unwrap())
    };
    let (first, second) = (open().await, open().await);
    assert_eq!([&*first.1, &*second.1], ["HTTP/1.1 101"; 2]);
    assert_eq!(open().await.1, "HTTP/1.1 429");
    drop(first);
    eventually("the slot of the first is free", async || {
        open().await.1 == "HTTP/1.1 101"
    })
    .await;
}

#[tokio::test]
async fn tiers() {
    let server = Server::start(example("tiers"));
    for (user, policy, hourly) in [
        ("alice", r#""burst";q=5;w=5, "user";q=100;w=3600"#, 100),
        ("paula", r#""burst";q=5;w=5, "user";q=10000;w=3600"#, 10_000),
    ] {
        let mut before = hourly;
        // Six at once exceed the burst. A slow machine needs more requests, since one refills per second.
        loop {
            let response = server.get("/", ("x-user-id", user)).await;
            assert_eq!(header(&response, "ratelimit-policy"), policy);
            if response.status() == 429 {
                assert!(before < hourly);
                assert!(header(&response, "ratelimit").starts_with("\"burst\";r=0;t="));
                break;
            }
            let after = remaining("user", &response);
            // A request costs one. (More remains when an hour ends.)
            assert!(after >= before - 1, "{before} {after}");
            let body = response.text().await.unwrap();
            let tiers: Vec<_> = body.lines().map(|line| line.split(':').next().unwrap()).collect();
            assert_eq!(tiers, ["global", "burst", "user"]);
            assert!(body.ends_with(&format!("user: {after} remaining\n")), "{body}");
            before = after;
        }
    }
}

#[tokio::test]
async fn custom_key() {
    let server = Server::start(example("custom_key"));
    let user = |name| server.statuses(9, "/me", ("authorization", name));
    assert_eq!(user("Bearer token-of-root").await, [200; 9]);
    assert!(user("Bearer token-of-alice").await.contains(&429));
    let without_tenant = server.get("/tenant", ("host", "localhost")).await;
    assert_eq!(without_tenant.status(), 400);
    assert!(
        without_tenant
            .text()
            .await
            .unwrap()
            .contains("call it as TENANT.example.com")
    );
    let tenant = |host| server.statuses(9, "/tenant", ("host", host));
    assert!(tenant("acme.example.com").await.contains(&429));
    assert_eq!(tenant("initech.example.com").await[..3], [200; 3]);
    assert_eq!(server.get("/reports/1", ("x-none", "")).await.status(), 400);
    assert!(
        server
            .statuses(9, "/reports/1", ("x-api-key", "secret"))
            .await
            .contains(&429)
    );
}

/// Two clients at one port share a limit.
#[tokio::test]
async fn grpc() {
    let server = Server::start(example("grpc"));
    let channel = Endpoint::from_shared(server.url.clone()).unwrap().connect_lazy();
    let mut health = HealthClient::new(channel);
    assert_eq!(server.statuses(2, "/hello", ("x-none", "")).await, [200; 2]);
    let response = health.check(HealthCheckRequest::default()).await.unwrap();
    assert_eq!(response.metadata().get("x-ratelimit-remaining").unwrap(), "0");

    let denied: Status = health.check(HealthCheckRequest::default()).await.unwrap_err();
    assert_eq!(denied.code(), Code::ResourceExhausted);
    assert!(denied.metadata().contains_key("grpc-retry-pushback-ms"));
    let plain = server.get("/hello", ("x-none", "")).await;
    assert_eq!(plain.status(), 429);
    assert_eq!(header(&plain, "content-type"), "application/json");
}

#[test]
fn an_address_in_use_is_reported_with_the_variable_to_change_it() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = taken.local_addr().unwrap().to_string();
    let expected = format!("cannot listen on {at} (set LISTEN=ADDRESS:PORT to change it): ");
    for name in [
        "quickstart",
        "per_route",
        "tiers",
        "custom_key",
        "rules",
        "outcomes",
        "grpc",
        "llm",
        "from_tower_governor",
    ] {
        let output = example(name).env("LISTEN", &at).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{name}: {error}");
        assert!(error.lines().any(|line| line.contains(&expected)), "{name}: {error}");
    }
}
