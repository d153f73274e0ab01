//! Requests of other sites, which a browser names.

use axum::http::StatusCode;
use reqwest::Client;

use crate::playground::program::{Playground, StoreKind};

#[tokio::test]
async fn only_the_page_itself_starts_sessions() {
    let playground = Playground::start(StoreKind::Memory);
    let client = Client::builder().no_proxy().build().unwrap();
    let status = async |path: &str, site: &str| {
        let request = client.get(playground.url() + path).header("sec-fetch-site", site);
        request.send().await.unwrap().status()
    };
    for path in ["/scene?paused=yes", "/nodes"] {
        assert_eq!(status(path, "cross-site").await, StatusCode::FORBIDDEN, "{path}");
        assert_eq!(status(path, "same-site").await, StatusCode::FORBIDDEN, "{path}");
        assert_eq!(status(path, "same-origin").await, StatusCode::OK, "{path}");
    }
    // A link to the page.
    assert_eq!(status("/", "cross-site").await, StatusCode::OK);
}
