//! The page's files, which are in the program: there is nothing to build, and nothing to fetch from elsewhere.

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

const FILES: [(&str, &str); 13] = files![
    "index.html",
    "style.css",
    "icon.svg",
    "main.js",
    "marks.js",
    "connection.js",
    "controls.js",
    "drawings.js",
    "lanes.js",
    "news.js",
    "table.js",
    "timeline.js",
    "words.js"
];

/// Whatever the page needs is here.
const POLICY: &str = "default-src 'self'; base-uri 'none'; frame-ancestors 'none'";

pub(super) async fn index() -> Response {
    answer("index.html")
}

pub(super) async fn file(Path(name): Path<String>) -> Response {
    answer(&name)
}

fn answer(name: &str) -> Response {
    let Some((_, text)) = FILES.iter().find(|(known, _)| *known == name) else {
        return (StatusCode::NOT_FOUND, "there is nothing here: the playground is at /").into_response();
    };
    let kind = match name.rsplit_once('.') {
        Some((_, "html")) => "text/html; charset=utf-8",
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "svg")) => "image/svg+xml",
        _ => "text/javascript; charset=utf-8",
    };
    let headers = [
        (CONTENT_TYPE, kind),
        (CONTENT_SECURITY_POLICY, POLICY),
        // The next program at this address may be a newer one.
        (CACHE_CONTROL, "no-cache"),
    ];
    (headers, *text).into_response()
}
