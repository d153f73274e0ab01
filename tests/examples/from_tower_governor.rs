//! The same service twice, and the same requests to both.

use reqwest::{Client, Method, RequestBuilder};

use support::project::example;

use crate::examples::Server;

/// What a client is told: the status, the limit, and what is left of it.
type Told = (u16, Option<u32>, Option<u32>);

async fn told(times: usize, request: RequestBuilder) -> Vec<Told> {
    let mut told = Vec::new();
    for _ in 0..times {
        let response = request.try_clone().unwrap().send().await.unwrap();
        let number = |name| Some(response.headers().get(name)?.to_str().unwrap().parse().unwrap());
        let [limit, left] = ["x-ratelimit-limit", "x-ratelimit-remaining"].map(number);
        told.push((response.status().as_u16(), limit, left));
    }
    told
}

#[tokio::test]
async fn both_answer_alike() {
    let server = Server::start(example("from_tower_governor"));
    let client = Client::new();
    let at = |path: &str| format!("{}{path}", server.at);
    for path in ["/before/hello", "/after/hello"] {
        let left = [(200, 4), (200, 3), (200, 2), (200, 1), (200, 0), (429, 0), (429, 0)];
        let all = left.map(|(status, left)| (status, Some(5), Some(left)));
        assert_eq!(told(7, client.get(at(path))).await, all, "{path}");
    }
    for path in ["/before/notes", "/after/notes"] {
        let write = client.request(Method::POST, at(path)).body("milk");
        assert_eq!(told(1, write.try_clone().unwrap()).await, [(400, None, None)], "{path}");
        for tenant in ["acme", "initech"] {
            let write = write.try_clone().unwrap().header("x-tenant", tenant);
            let left = [(200, 2), (200, 1), (200, 0), (429, 0)];
            let all = left.map(|(status, left)| (status, Some(3), Some(left)));
            assert_eq!(told(4, write).await, all, "{path}");
        }
        assert_eq!(told(9, client.get(at(path))).await, [(200, None, None); 9], "{path}");
    }
}
