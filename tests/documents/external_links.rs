//! Links to other sites are well-formed, and those to the hosted docs name items that exist.

use std::fs;

use support::{page::Page, project::root};

/// Whether a link to docs.rs/tollgate names a public item, by the list of the API.
fn names_an_item(api: &str, link: &str) -> bool {
    let Some(path) = link.strip_prefix("https://docs.rs/tollgate/latest/tollgate/") else {
        return link == "https://docs.rs/tollgate";
    };
    let (page, method) = path.split_once("#method.").unwrap_or((path, ""));
    let parts: Vec<_> = page
        .trim_end_matches("index.html")
        .split('/')
        .filter(|part| !part.is_empty())
        .collect();
    let is_module = !page.ends_with(".html") || page.ends_with("index.html");
    // `struct.Limiter.html` is the struct `Limiter`.
    let names = parts
        .iter()
        .map(|part| part.trim_end_matches(".html").rsplit('.').next().unwrap_or_default());
    let item = names.fold("tollgate".to_owned(), |path, name| format!("{path}::{name}"));
    let kind = match is_module {
        true => "mod",
        false => parts.last().and_then(|part| part.split('.').next()).unwrap_or_default(),
    };
    let declares = |line: &str| {
        let rest = line.split_once(&format!("pub {kind} {item}")).map(|(_, rest)| rest);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['<', '(', ' ']))
    };
    let has_method = |line: &str| line.contains(&format!("fn {item}")) && line.contains(&format!("::{method}"));
    api.lines().any(declares) && (method.is_empty() || api.lines().any(has_method))
}

/// Files of a published package, which docs.rs shows under `crate/NAME/latest/source/`.
fn is_packaged(path: &str) -> bool {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    root().join(path).exists() && manifest.contains(&format!("\"/{path}\""))
}

#[test]
fn links_to_other_sites_are_well_formed() {
    let api = fs::read_to_string(root().join("docs/api.txt")).unwrap();
    let mut wrong = Vec::new();
    for page in Page::all() {
        for link in page.all_links().filter(|link| link.contains("://")) {
            let is_valid = match link.strip_prefix("https://docs.rs/crate/tollgate/latest/source/") {
                Some(path) => is_packaged(path),
                None if link.starts_with("https://docs.rs/tollgate/") => names_an_item(&api, link),
                None => {
                    let uri: Option<http::Uri> = link.parse().ok();
                    uri.is_some_and(|uri| {
                        uri.scheme_str() == Some("https") && uri.host().is_some_and(|host| host.contains('.'))
                    })
                }
            };
            if !is_valid {
                wrong.push(page.describe(link));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_link_to_an_item_that_does_not_exist_is_found() {
    let api = fs::read_to_string(root().join("docs/api.txt")).unwrap();
    for (path, exists) in [
        ("struct.Limiter.html", true),
        ("struct.Tier.html#method.quota", true),
        ("extract/", true),
        ("extract/index.html", true),
        ("struct.Limit.html#method.unknown", false),
        ("struct.Limite.html", false),
        ("enum.Limiter.html", false),
        ("unknown/", false),
    ] {
        let link = format!("https://docs.rs/tollgate/latest/tollgate/{path}");
        assert_eq!(names_an_item(&api, &link), exists, "{link}");
    }
}
