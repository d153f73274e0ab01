//! The documents hold together: links lead somewhere, and the index of decisions says what they say.

mod page;

use std::{fs, path::Path};

use page::{Page, root};

fn pages() -> Vec<Page> {
    let mut pages = Vec::new();
    find(Path::new(""), &mut pages);
    assert!(pages.len() > 40, "only {} documents were found", pages.len());
    pages
}

fn find(folder: &Path, pages: &mut Vec<Page>) {
    // What others wrote, or what a build left.
    const NOT_OURS: [&str; 4] = ["target", "node_modules", "corpus", "artifacts"];
    for entry in fs::read_dir(root().join(folder)).expect("a folder of the project") {
        let name = entry
            .expect("an entry")
            .file_name()
            .into_string()
            .expect("a name in Unicode");
        let path = folder.join(&name);
        if root().join(&path).is_dir() {
            if !name.starts_with('.') && !NOT_OURS.contains(&&*name) {
                find(&path, pages);
            }
        } else if name.ends_with(".md") {
            pages.push(Page::read(path));
        }
    }
}

#[test]
fn every_link_leads_somewhere() {
    let broken: Vec<String> = pages()
        .iter()
        .flat_map(|page| {
            page.links()
                .filter(|link| !page.resolves(link))
                .map(|link| page.said(link))
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_index_of_decisions_has_each_by_its_title() {
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
