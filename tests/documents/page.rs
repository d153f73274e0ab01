//! A document, with its links and anchors.

use std::{fs, path::PathBuf};

use support::project::root;

pub(crate) struct Page {
    /// From the project's root.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

impl Page {
    pub(crate) fn read(path: PathBuf) -> Self {
        let text = fs::read_to_string(root().join(&path)).expect("a document in UTF-8");
        Self { path, text }
    }

    pub(crate) fn title(&self) -> &str {
        let first = self.text.lines().next().unwrap_or_default();
        first.strip_prefix("# ").expect("a document begins with its title")
    }

    /// The targets of its links within the project, without those that rustdoc resolves.
    pub(crate) fn links(&self) -> impl Iterator<Item = &str> {
        let defined = self.prose().filter(|line| line.starts_with('['));
        let defined = defined
            .filter_map(|line| line.split_once("]: "))
            .map(|(_, target)| target.trim());
        self.inline_links().chain(defined.filter(is_in_project))
    }

    /// The targets of its inline links within the project.
    pub(crate) fn inline_links(&self) -> impl Iterator<Item = &str> {
        let links = self.prose().flat_map(|line| line.split("](").skip(1));
        links.filter_map(|rest| rest.split(')').next()).filter(is_in_project)
    }

    pub(crate) fn resolves(&self, link: &str) -> bool {
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let folder = self.path.parent().expect("a document is in a folder");
        let target = match file {
            "" => self.path.clone(),
            file => folder.join(file),
        };
        let exists = root().join(&target).exists();
        let is_document = target.extension().is_some_and(|extension| extension == "md");
        exists && (anchor.is_empty() || !is_document || Self::read(target).has_anchor(anchor))
    }

    pub(crate) fn describe(&self, link: &str) -> String {
        format!("{}: {link}", self.path.display())
    }

    fn has_anchor(&self, anchor: &str) -> bool {
        let headings = self.prose().filter(|line| line.starts_with('#'));
        headings
            .map(|line| slug(line.trim_start_matches('#').trim()))
            .any(|slug| slug == anchor)
    }

    /// Its lines outside of code blocks.
    fn prose(&self) -> impl Iterator<Item = &str> {
        let mut is_code = false;
        self.text.lines().filter(move |line| {
            let is_fence = line.trim_start().starts_with("```");
            is_code ^= is_fence;
            !is_code && !is_fence
        })
    }
}

fn is_in_project(link: &&str) -> bool {
    !link.contains("://") && !link.contains("::") && !link.starts_with("crate")
}

/// The anchor of a heading, as GitHub derives it.
fn slug(heading: &str) -> String {
    let kept = heading
        .chars()
        .filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.map(|letter| {
        if letter == ' ' {
            '-'
        } else {
            letter.to_ascii_lowercase()
        }
    })
    .collect()
}
