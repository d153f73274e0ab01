//! Examples of where to put a limit, and of whom to count.

use reqwest::Client;

use support::project::example;

use crate::examples::{Server, header, left};

#[tokio::test]
async fn per_route() {
    let server = Server::start(example("per_route"));
    let login = || Client::new().post(format!("{}/login", server.at)).send();
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

#[tokio::test]
async fn tiers() {
    let server = Server::start(example("tiers"));
    for (user, policy, hourly) in [
        ("alice", r#""burst";q=5;w=5, "user";q=100;w=3600"#, 100),
        ("paula", r#""burst";q=5;w=5, "user";q=10000;w=3600"#, 10_000),
    ] {
        let mut before = hourly;
        // Six at once are too many. On a slow machine it takes some more, since there is one more in each second.
        loop {
            let response = server.get("/", ("x-user-id", user)).await;
            assert_eq!(header(&response, "ratelimit-policy"), policy);
            let (status, after) = (response.status(), left("user", &response));
            // A request costs one, and nothing if another tier refuses it. (When an hour turns, there is more.)
            if status == 429 {
                assert!(before < hourly && after >= before, "{before} {after}");
                break;
            }
            assert!(after >= before - 1, "{before} {after}");
            let told = response.text().await.unwrap();
            let tiers: Vec<_> = told.lines().map(|line| line.split(':').next().unwrap()).collect();
            assert_eq!(tiers, ["global", "burst", "user"]);
            assert!(told.ends_with(&format!("user: {after} left\n")), "{told}");
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
    let nameless = server.get("/tenant", ("host", "localhost")).await;
    assert_eq!(nameless.status(), 400);
    assert!(nameless.text().await.unwrap().contains("call it as TENANT.example.com"));
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
