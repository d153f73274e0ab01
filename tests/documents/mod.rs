//! Documents: links resolve, and the indexes of decisions and tests are complete.

mod page;

use std::{fs, path::Path};

use page::Page;
use support::project::root;

fn pages() -> Vec<Page> {
    let mut pages = Vec::new();
    find(Path::new(""), &mut pages);
    assert!(pages.len() > 40, "only {} documents were found", pages.len());
    pages
}

fn find(folder: &Path, pages: &mut Vec<Page>) {
    // Third-party files and build output.
    const IGNORED: [&str; 4] = ["target", "node_modules", "corpus", "artifacts"];
    for entry in fs::read_dir(root().join(folder)).expect("a folder of the project") {
        let name = entry
            .expect("an entry")
            .file_name()
            .into_string()
            .expect("a name in Unicode");
        let path = folder.join(&name);
        if root().join(&path).is_dir() {
            if !name.starts_with('.') && !IGNORED.contains(&&*name) {
                find(&path, pages);
            }
        } else if name.ends_with(".md") {
            pages.push(Page::read(path));
        }
    }
}

#[test]
fn every_link_resolves() {
    let broken: Vec<String> = pages()
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
    let mut titles: Vec<String> = pages()
        .iter()
        .filter(|page| page.path.starts_with("docs/adr") && !page.path.ends_with("README.md"))
        .map(|page| {
            let (number, title) = page.title().split_once(": ").expect("a number and a title");
            let file = page.path.file_name().expect("a file").to_string_lossy();
            format!("| [{number}]({file}) | {title} |")
        })
        .collect();
    titles.sort();
    let index = Page::read("docs/adr/README.md".into());
    let rows: Vec<&str> = index.text.lines().filter(|line| line.starts_with("| [")).collect();
    assert_eq!(rows, titles);
}

#[test]
fn the_readme_of_the_tests_lists_every_folder() {
    let readme = Page::read("tests/README.md".into());
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
    let hosted = Page::read("src/guide/mod.rs".into());
    let files = hosted
        .text
        .split("\"")
        .filter(|part| part.ends_with(".md") && !part.contains(".."));
    let pages: Vec<Page> = files
        .filter(|file| *file != "links.md")
        .map(|file| Page::read(format!("docs/{file}").into()))
        .collect();
    assert!(pages.len() > 9);
    for page in pages {
        let is_to_another_page = |link: &&str| !link.starts_with('#') && !link.ends_with(".svg");
        let inline: Vec<&str> = page.inline_links().filter(is_to_another_page).collect();
        assert!(inline.is_empty(), "{}: {inline:?}", page.path.display());
    }
}
