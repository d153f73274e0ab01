//! Documents: links resolve, code blocks are tested, and the indexes of decisions and tests are complete.

mod code_blocks;
mod external_links;
mod foreign_config;
mod glossary;
mod issue_forms;
mod readme;

use std::fs;

use support::{page::Page, project::root};

#[test]
fn every_link_resolves() {
    let broken: Vec<String> = Page::all()
        .iter()
        .flat_map(|page| {
            page.links()
                .filter(|link| !page.resolves(link))
                .map(|link| page.describe(link))
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_index_of_decisions_lists_every_decision() {
    let mut titles: Vec<String> = Page::all()
        .iter()
        .filter(|page| page.path.starts_with("docs/adr") && !page.path.ends_with("README.md"))
        .map(|page| {
            let (number, title) = page.title().split_once(": ").expect("a number and a title");
            let file = page.path.file_name().expect("a file").to_string_lossy();
            format!("| [{number}]({file}) | {title} |")
        })
        .collect();
    titles.sort();
    let index = Page::read("docs/adr/README.md");
    let rows: Vec<&str> = index.text.lines().filter(|line| line.starts_with("| [")).collect();
    assert_eq!(rows, titles);
}

#[test]
fn the_readme_of_the_tests_lists_every_folder() {
    let readme = Page::read("tests/README.md");
    for entry in fs::read_dir(root().join("tests")).expect("tests/ is there") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("a name in Unicode");
        let name = if entry.path().is_dir() {
            format!("{name}/")
        } else {
            name
        };
        let is_visible = name == "README.md" || readme.text.contains(&format!("`{name}`"));
        assert!(is_visible, "tests/README.md has no row for {name}");
    }
}

/// The hosted docs can replace the definitions of reference links, and cannot replace inline links.
#[test]
fn pages_of_the_guide_use_reference_links() {
    let hosted = Page::read("src/guide/mod.rs");
    let files = hosted
        .text
        .split('"')
        .filter(|part| part.ends_with(".md") && !part.contains("..") && !part.starts_with("links"));
    let mut pages: Vec<Page> = files.map(|file| Page::read(format!("docs/{file}"))).collect();
    assert!(pages.len() > 9);
    pages.extend(["docs/guide/README.md", "docs/rules.md"].map(Page::read));
    for page in &pages {
        let is_to_another_page = |link: &&str| !link.starts_with('#') && !link.ends_with(".svg");
        let inline: Vec<&str> = page.inline_links().filter(is_to_another_page).collect();
        assert!(inline.is_empty(), "{}: {inline:?}", page.path.display());
    }
}

/// A label of the guide's own definitions means the same page everywhere.
#[test]
fn the_guide_replaces_every_link_to_a_file() {
    let replaced = ["src/guide/links.md", "src/guide/links_to_rules.md"].map(Page::read);
    let replaced: Vec<_> = replaced.iter().flat_map(|page| page.text.lines()).collect();
    let label = |line: &str| line.split_once("]: ").map(|(label, _)| format!("{label}]: "));
    for page in Page::current().iter().filter(|page| page.path.starts_with("docs")) {
        let is_hosted = page.path != std::path::Path::new("docs/architecture.md");
        let defined = page
            .prose()
            .filter(|line| line.starts_with('[') && line.contains("]: "));
        for line in defined.filter(|line| is_hosted && !line.contains("https://")) {
            let label = label(line).unwrap();
            let is_replaced = replaced.iter().any(|line| line.starts_with(&label));
            assert!(is_replaced, "{}: the guide does not define {line}", page.path.display());
        }
    }
}

/// Every page that is not about the development of the project is in the guide and in its index.
#[test]
fn the_guide_has_every_page() {
    let guide = Page::read("src/guide/mod.rs");
    let index = Page::read("docs/guide/README.md");
    for page in Page::current().iter().filter(|page| page.path.starts_with("docs")) {
        let path = page.path.strip_prefix("docs").unwrap().display().to_string();
        if ["architecture.md", "guide/README.md"].contains(&&*path) {
            continue;
        }
        // The module `rules` has its own page.
        assert!(
            path == "rules.md" || guide.text.contains(&format!(": \"{path}\"")),
            "the guide lacks {path}"
        );
        let target = path.strip_prefix("guide/").map_or(format!("../{path}"), str::to_owned);
        assert!(index.text.contains(&format!("]: {target}\n")), "the index lacks {path}");
    }
}
