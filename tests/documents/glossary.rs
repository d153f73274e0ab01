//! The glossary: its words are used, each page that it names explains the word, and no other page lists definitions.

use support::page::Page;

struct Entry<'a> {
    words: Vec<&'a str>,
    /// The name of the link in its last column.
    page: &'a str,
}

fn entries(glossary: &Page) -> Vec<Entry<'_>> {
    let rows = glossary.text.lines().filter(|line| line.starts_with("| ")).skip(2);
    let entries = rows.map(|row| {
        let cells: Vec<_> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [words, meaning, page] = cells[..] else {
            panic!("{row} has not three columns");
        };
        let sentences = meaning.matches(". ").count() + 1;
        assert!(
            meaning.ends_with('.') && sentences <= 2,
            "{words}: one or two sentences"
        );
        let (_, label) = page.trim_end_matches(']').rsplit_once('[').expect("a link");
        Entry {
            words: words.split(", ").collect(),
            page: label,
        }
    });
    entries.collect()
}

/// The page that a link of the glossary points to.
fn page(glossary: &Page, label: &str) -> Page {
    let definition = format!("[{label}]: ");
    let target = glossary.text.lines().find_map(|line| line.strip_prefix(&definition));
    Page::read(format!(
        "docs/{}",
        target.unwrap_or_else(|| panic!("{label} is not defined"))
    ))
}

/// Whether a text has a word, in any form that begins with it: denied, denial and denies begin with `den`.
fn has_word(text: &str, word: &str) -> bool {
    let stem = word.strip_suffix(['y', 'e']).unwrap_or(word);
    let text = text.to_lowercase().replace('\n', " ");
    let mut rest = text.match_indices(stem).map(|(at, _)| &text[..at]);
    rest.any(|before| !before.ends_with(char::is_alphanumeric))
}

#[test]
fn the_page_of_each_word_uses_it() {
    let glossary = Page::read("docs/glossary.md");
    let entries = entries(&glossary);
    assert!(entries.len() >= 20);
    for entry in &entries {
        let page = page(&glossary, entry.page);
        for word in &entry.words {
            assert!(
                has_word(&page.text, word),
                "{} does not use {word}",
                page.path.display()
            );
        }
    }
}

#[test]
fn words_are_in_order_and_defined_once() {
    let glossary = Page::read("docs/glossary.md");
    let words: Vec<_> = entries(&glossary).into_iter().flat_map(|entry| entry.words).collect();
    let firsts: Vec<_> = entries(&glossary).iter().map(|entry| entry.words[0]).collect();
    assert!(firsts.is_sorted(), "{firsts:?}");
    let mut unique = words.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), words.len());
}

/// A sentence like `A lease is a number of units` would be a second definition.
#[test]
fn other_pages_do_not_define_the_words() {
    let glossary = Page::read("docs/glossary.md");
    let entries = entries(&glossary);
    for page in Page::current().iter().filter(|page| page.path != glossary.path) {
        let prose = page.prose().collect::<Vec<_>>().join(" ");
        for word in entries.iter().flat_map(|entry| &entry.words) {
            for article in ["A", "An"] {
                for verb in ["is a ", "is an ", "is the ", "means "] {
                    let definition = format!("{article} {word} {verb}");
                    assert!(!prose.contains(&definition), "{}: {definition}", page.path.display());
                }
            }
        }
    }
}
