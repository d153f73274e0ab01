//! Requests that cost what they turn out to cost.

use reqwest::{Client, RequestBuilder, Response};

use support::project::example;

use crate::examples::{Server, header};

async fn send(request: RequestBuilder) -> (u16, String) {
    let response = request.send().await.unwrap();
    let left = response.headers().get("x-ratelimit-remaining");
    let left = left.map_or("-", |left| left.to_str().unwrap()).to_owned();
    (response.status().as_u16(), left)
}

#[tokio::test]
async fn outcomes() {
    let server = Server::start(example("outcomes"));
    // An upload that is refused is not read, and so its connection cannot be used again.
    let client = Client::builder().pool_max_idle_per_host(0).build().unwrap();
    let at = |path: &str| format!("{}{path}", server.at);
    let login = |password: &'static str| send(client.post(at("/login")).body(password));
    for left in ["4", "3", "2", "1", "0"] {
        if left == "0" {
            for _ in 0..10 {
                assert_eq!(login("open sesame").await, (200, "1".into()));
            }
        }
        assert_eq!(login("open barley").await, (401, left.into()));
    }
    assert_eq!(login("open sesame").await, (429, "0".into()));

    // An answer is estimated at 50 words and takes 6: a third one fits, which 150 would not.
    for _ in 0..3 {
        let answer: Response = client.get(at("/ask")).send().await.unwrap();
        assert_eq!(
            (answer.status().as_u16(), header(&answer, "x-ratelimit-limit")),
            (200, "100".into())
        );
        assert_eq!(answer.text().await.unwrap(), "It depends on what you mean.\n");
    }

    let upload = |bytes: usize| client.post(at("/upload")).body("a".repeat(bytes));
    for shadow in ["admitted", "admitted", "limited"] {
        let uploaded = upload(6_000).send().await.unwrap();
        let told = format!("6000 bytes (upload-count: {shadow})\n");
        assert_eq!(uploaded.text().await.unwrap(), told);
    }
    let refused = upload(6_000).send().await.unwrap();
    assert_eq!(
        (refused.status().as_u16(), refused.headers().contains_key("retry-after")),
        (429, true)
    );
    let impossible = upload(20_001).send().await.unwrap();
    assert_eq!(
        (
            impossible.status().as_u16(),
            impossible.headers().contains_key("retry-after")
        ),
        (429, false)
    );

    assert_eq!(send(client.get(at("/healthz"))).await, (200, "-".into()));
    let scraper = client.get(at("/ask")).header("user-agent", "scraper");
    assert_eq!(send(scraper).await, (403, "-".into()));
}
