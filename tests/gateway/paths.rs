//! Path normalization: limits and the service see the same path.

#[path = "../../cli/src/server/normalize/path.rs"]
mod path;

use proptest::prelude::*;

use support::property::{cases, config};

use crate::gateway::{
    client::echo,
    fixture::{COUNT_ONLY, Gateway, at_most},
    socket::{Socket, Upstream},
};

/// Spellings of `/files`.
const SPELLINGS: [&str; 24] = [
    "/files",
    "/%66iles",
    "/fil%65s",
    "/%66%69%6c%65%73",
    "/%66%69%6C%65%73",
    "//files",
    "///files",
    "/./files",
    "/././/files",
    "/%2e/files",
    "/%2E/files",
    "/x/../files",
    "/x/y/../../files",
    "/../files",
    "/../../files",
    "/%2e%2e/files",
    "/.%2e/files",
    "/%2E%2e/files",
    "/x/%2e%2e/files",
    "/x//%2E.//files",
    "/%2fx/../files",
    "/files/x/../../files",
    "/files?",
    "/%66iles?a=%66&b=../..//",
];

#[tokio::test]
async fn no_spelling_bypasses_a_limit() {
    let service = echo().await;
    let gateway = Gateway::with_upstream(&service.url(), &at_most(1, "path = '/files'"), &[]);
    assert_eq!(Socket::get(&gateway, "/files").await.0, 200);
    for path in SPELLINGS {
        assert_eq!(Socket::get(&gateway, path).await.0, 429, "{path}");
        assert_eq!(Socket::get(&gateway, &format!("http://b{path}")).await.0, 429, "{path}");
    }
    let rules = at_most(1, "path = '/%C3%A9:@'");
    let gateway = Gateway::with_upstream(&service.url(), &rules, &[]);
    assert_eq!(Socket::get(&gateway, "/%C3%A9:@").await.0, 200);
    for path in ["/%c3%a9:@", "/%C3%A9%3a%40", "/%C3%A9%3A@", "/\u{e9}:@"] {
        assert_eq!(Socket::get(&gateway, path).await.0, 429, "{path}");
    }
}

#[tokio::test]
async fn distinct_paths_stay_distinct() {
    let service = echo().await;
    let gateway = Gateway::with_upstream(&service.url(), &at_most(1, "path = '/files'"), &[]);
    for path in [
        "/Files",
        "/files/",
        "/files/x",
        "/%2Ffiles",
        "/files%2F",
        "/x%2F..%2Ffiles",
        "/%2566iles",
        "/files;x",
    ] {
        assert_eq!(Socket::get(&gateway, path).await, (200, path.to_owned()));
    }
}

/// A requested target, and the target that the service receives.
const NORMALIZED: [(&str, &str); 16] = [
    ("/%66iles", "/files"),
    ("/x/..//./files", "/files"),
    ("/x/..", "/"),
    ("/x/y/..", "/x/"),
    ("/x/.", "/x/"),
    ("/x//", "/x/"),
    ("/..", "/"),
    ("/%7euser/%2f%c3%a4", "/~user/%2F%C3%A4"),
    ("/a%20b%25", "/a%20b%25"),
    ("/models%3apredict/%40me", "/models:predict/@me"),
    ("/a%21%24%26%27%28%29%2a%2B%2c%3B%3D", "/a!$&'()*+,;="),
    ("/caf\u{e9}", "/caf%C3%A9"),
    ("/{\"a\"|b^}", "/%7B%22a%22%7Cb%5E%7D"),
    ("/...", "/..."),
    ("/?a=%66&b=/../x//y&c=%zz", "/?a=%66&b=/../x//y&c=%zz"),
    ("/x?", "/x?"),
];

#[tokio::test]
async fn the_service_receives_the_normalized_path_and_the_query_unchanged() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, &[]);
    for (requested, normalized) in NORMALIZED {
        let mut client = Socket::connect(&gateway).await;
        client
            .send(format!("GET {requested} HTTP/1.1\r\nhost: a\r\n\r\n"))
            .await;
        let head = upstream.accept().await.read_head().await;
        assert_eq!(head.lines().next().unwrap(), format!("GET {normalized} HTTP/1.1"));
    }
}

/// Removes empty and dot segments one at a time, until none is left.
fn without_dot_segments(mut path: String) -> String {
    loop {
        let before = path.clone();
        path = path.replacen("//", "/", 1);
        if path == before {
            path = path.replacen("/./", "/", 1);
        }
        if path == before {
            path = without_a_parent(&path);
        }
        if path == before {
            return path;
        }
    }
}

/// Without the first `..`, and the segment before it.
fn without_a_parent(path: &str) -> String {
    let Some(at) = path.find("/../") else {
        return path.to_owned();
    };
    let parent = path[..at].rfind('/').unwrap_or_default();
    format!("{}{}", &path[..parent], &path[at + 3..])
}

/// Encodes exactly the characters that need it, one at a time.
fn encoded(path: &str) -> String {
    let mut text = String::new();
    let mut chars = path.chars();
    while let Some(char) = chars.next() {
        if char != '%' {
            let mut bytes = [0; 4];
            let bytes = char.encode_utf8(&mut bytes).bytes();
            match char.is_ascii() && !"\"<>^`{|}".contains(char) {
                true => text.push(char),
                false => bytes.for_each(|byte| text += &format!("%{byte:02X}")),
            }
            continue;
        }
        let digits: String = chars.by_ref().take(2).collect();
        let char = u8::from_str_radix(&digits, 16).unwrap() as char;
        match char.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@".contains(char) {
            true => text.push(char),
            false => text += &format!("%{}", digits.to_uppercase()),
        }
    }
    text
}

/// Whether some services read another path: they treat a backslash as a slash, or remove parameters before they resolve dot segments.
fn is_ambiguous(path: &str) -> bool {
    let text = encoded(path);
    text.contains("%5C") || text.contains("/.;") || text.contains("/..;")
}

/// A slow reference implementation of the normalization.
fn reference(path: &str) -> String {
    let text = encoded(path);
    // A trailing slash makes the last segment like the others.
    let is_file = !["/", "/.", "/.."].iter().any(|end| text.ends_with(end));
    let whole = without_dot_segments(format!("{text}/"));
    let path = if is_file {
        whole.strip_suffix('/').unwrap()
    } else {
        &whole
    };
    path.to_owned()
}

/// Paths of parts that are easily misread.
fn any_path() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => Just("/".to_owned()),
        3 => Just(".".to_owned()),
        2 => prop_oneof![Just("%2e"), Just("%2E"), Just("%2f"), Just("%2F"), Just("%61"), Just("%7e"), Just("%25")]
            .prop_map(str::to_owned),
        3 => "[a-c~;=@:{|}^\"\u{e9}]",
        1 => any::<u8>().prop_map(|byte| format!("%{byte:02x}")),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| format!("/{}", pieces.concat()))
}

/// Inputs that have failed before.
const REGRESSIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/gateway/regressions.txt");

proptest! {
    #![proptest_config(config(cases(), REGRESSIONS))]

    #[test]
    fn normalization_is_idempotent_and_matches_the_reference(path in any_path()) {
        let normalized = path::normalize_path(&path);
        prop_assert_eq!(normalized.is_err(), is_ambiguous(&path));
        let Ok(normalized) = normalized else { return Ok(()) };
        let normalized = normalized.into_owned();
        prop_assert_eq!(&normalized, &reference(&path));
        prop_assert_eq!(path::normalize_path(&normalized).unwrap(), &*normalized, "again");
        prop_assert!(normalized.starts_with('/') && !normalized.contains("//"));
        prop_assert!(normalized.split('/').all(|segment| segment != "." && segment != ".."));
    }

    #[test]
    fn any_input_is_normalized_or_rejected(path in r"/?([%/.\\]|%2[0-9a-f]|[0-9]|.){0,12}") {
        if let Ok(normalized) = path::normalize_path(&path) {
            prop_assert_eq!(path::normalize_path(&normalized).unwrap(), &*normalized);
        }
    }
}
