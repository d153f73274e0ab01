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

/// Browsers name the site only to HTTPS and loopback addresses. A page can resolve its own host name to a loopback address, too.
#[tokio::test]
async fn a_page_with_another_host_name_starts_no_session() {
    let playground = Playground::start(StoreKind::Memory);
    let client = Client::builder().no_proxy().build().unwrap();
    let host = playground.url().replace("http://", "");
    let status = async |host: &str, header: &str, value: &str| {
        let request = client.get(playground.url() + "/scene?paused=yes").header("host", host);
        request.header(header, value).send().await.unwrap().status()
    };
    assert_eq!(status("evil.example", "accept", "*/*").await, StatusCode::FORBIDDEN);
    for header in ["origin", "referer"] {
        let own = format!("http://{host}");
        for (page, expected) in [
            (own.as_str(), StatusCode::OK),
            ("http://evil.example", StatusCode::FORBIDDEN),
            ("null", StatusCode::FORBIDDEN),
        ] {
            assert_eq!(status(&host, header, page).await, expected, "{header}: {page}");
        }
    }
}
