//! The example `from_tower_governor`: the same requests to the service before and after the migration.

use reqwest::{Client, Method, RequestBuilder};

use support::project::example;

use crate::examples::Server;

/// Status, limit and remaining quota.
type Received = (u16, Option<u32>, Option<u32>);

async fn send(times: usize, request: RequestBuilder) -> Vec<Received> {
    let mut received = Vec::new();
    for _ in 0..times {
        let response = request.try_clone().unwrap().send().await.unwrap();
        let number = |name| Some(response.headers().get(name)?.to_str().unwrap().parse().unwrap());
        let [limit, remaining] = ["x-ratelimit-limit", "x-ratelimit-remaining"].map(number);
        received.push((response.status().as_u16(), limit, remaining));
    }
    received
}

#[tokio::test]
async fn before_and_after_respond_the_same() {
    let server = Server::start(example("from_tower_governor"));
    let client = Client::new();
    let at = |path: &str| format!("{}{path}", server.url);
    for path in ["/before/hello", "/after/hello"] {
        let remaining = [(200, 4), (200, 3), (200, 2), (200, 1), (200, 0), (429, 0), (429, 0)];
        let all = remaining.map(|(status, remaining)| (status, Some(5), Some(remaining)));
        assert_eq!(send(7, client.get(at(path))).await, all, "{path}");
    }
    for path in ["/before/notes", "/after/notes"] {
        let write = client.request(Method::POST, at(path)).body("milk");
        assert_eq!(send(1, write.try_clone().unwrap()).await, [(400, None, None)], "{path}");
        for tenant in ["acme", "initech"] {
            let write = write.try_clone().unwrap().header("x-tenant", tenant);
            let remaining = [(200, 2), (200, 1), (200, 0), (429, 0)];
            let all = remaining.map(|(status, remaining)| (status, Some(3), Some(remaining)));
            assert_eq!(send(4, write).await, all, "{path}");
        }
        assert_eq!(send(9, client.get(at(path))).await, [(200, None, None); 9], "{path}");
    }
}
