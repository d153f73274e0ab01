//! The page's files, embedded in the binary: there is no build step, and the page loads nothing from other hosts.

use axum::{
    extract::Path,
    response::{IntoResponse, Response},
};
use http::{
    StatusCode,
    header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE},
};

macro_rules! files {
    ($($name:literal),*) => {
        [$(($name, include_str!(concat!("../page/", $name)))),*]
    };
}

const FILES: [(&str, &str); 21] = files![
    "index.html",
    "nodes.html",
    "style.css",
    "icon.svg",
    "main.js",
    "marks.js",
    "connection.js",
    "page_controls.js",
    "controls.js",
    "node_controls.js",
    "drawings.js",
    "lanes.js",
    "announcer.js",
    "table.js",
    "node_cards.js",
    "node_table.js",
    "nodes.js",
    "redis_card.js",
    "text.js",
    "timeline.js",
    "format.js"
];

/// The page loads everything from this server.
const SECURITY_POLICY: &str = "default-src 'self'; base-uri 'none'; frame-ancestors 'none'";

pub(super) async fn index() -> Response {
    response("index.html")
}

pub(super) async fn file(Path(name): Path<String>) -> Response {
    response(&name)
}

fn response(name: &str) -> Response {
    let Some((_, text)) = FILES.iter().find(|(known, _)| *known == name) else {
        return (StatusCode::NOT_FOUND, "not found; the playground is at /").into_response();
    };
    let content_type = match name.rsplit_once('.') {
        Some((_, "html")) => "text/html; charset=utf-8",
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "svg")) => "image/svg+xml",
        _ => "text/javascript; charset=utf-8",
    };
    let headers = [
        (CONTENT_TYPE, content_type),
        (CONTENT_SECURITY_POLICY, SECURITY_POLICY),
        // The next process on this port may be a newer version.
        (CACHE_CONTROL, "no-cache"),
    ];
    (headers, *text).into_response()
}
