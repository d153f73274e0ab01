//! The example `outcomes`: costs that depend on the response.

use reqwest::{Client, RequestBuilder, Response};

use support::project::example;

use crate::examples::{Server, header};

async fn send(request: RequestBuilder) -> (u16, String) {
    let response = request.send().await.unwrap();
    let remaining = response.headers().get("x-ratelimit-remaining");
    let remaining = remaining
        .map_or("-", |remaining| remaining.to_str().unwrap())
        .to_owned();
    (response.status().as_u16(), remaining)
}

#[tokio::test]
async fn outcomes() {
    let server = Server::start(example("outcomes"));
    // A denied upload is not read, so its connection cannot be reused.
    let client = Client::builder().pool_max_idle_per_host(0).build().unwrap();
    let at = |path: &str| format!("{}{path}", server.url);
    let login = |password: &'static str| send(client.post(at("/login")).body(password));
    for remaining in ["4", "3", "2", "1", "0"] {
        if remaining == "0" {
            for _ in 0..10 {
                assert_eq!(login("open sesame").await, (200, "1".into()));
            }
        }
        assert_eq!(login("open barley").await, (401, remaining.into()));
    }
    assert_eq!(login("open sesame").await, (429, "0".into()));

    // A response is estimated at 50 words and has 6, so a third one fits, although 150 would not.
    for _ in 0..3 {
        let response: Response = client.get(at("/ask")).send().await.unwrap();
        assert_eq!(
            (response.status().as_u16(), header(&response, "x-ratelimit-limit")),
            (200, "100".into())
        );
        assert_eq!(response.text().await.unwrap(), "It depends on what you mean.\n");
    }

    let upload = |bytes: usize| client.post(at("/upload")).body("a".repeat(bytes));
    for shadow in ["admitted", "admitted", "limited"] {
        let uploaded = upload(6_000).send().await.unwrap();
        let expected = format!("6000 bytes (upload-count: {shadow})\n");
        assert_eq!(uploaded.text().await.unwrap(), expected);
    }
    let denied = upload(6_000).send().await.unwrap();
    assert_eq!(
        (denied.status().as_u16(), denied.headers().contains_key("retry-after")),
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
