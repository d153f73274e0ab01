//! The documents of the project: their links, anchors, code blocks and inline code.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::project::root;

pub struct Page {
    /// From the project's root.
    pub path: PathBuf,
    pub text: String,
}

/// A fenced block of code.
pub struct Block {
    /// The path of its page, and its line.
    pub location: String,
    /// What follows the fence: a language, and for some blocks a file name.
    pub info: String,
    /// Without the indentation of the fence.
    pub text: String,
}

/// How a block is checked. `tests/documents/code_blocks.rs` names the test of each kind, which takes all blocks of the kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Rust that rustdoc runs or compiles.
    Doctest,
    /// Rust that is not compiled with its page: part of an example, or code with a crate that this project does not use.
    IgnoredRust,
    /// A rules file.
    Rules,
    /// Dependencies for a Cargo.toml.
    Dependencies,
    /// Commands with their output, and the files that they read.
    Console,
    /// Commands without output.
    Shell,
    /// The response to the `curl -i` of the block before.
    CurlOutput,
    /// A response, or headers of one.
    Response,
    /// Diagnostics of a rules file.
    Diagnostics,
    /// A drawing with arrows.
    Diagram,
    /// The table that the soak test prints.
    SoakReport,
    /// Configuration of another program.
    ForeignConfig,
}

impl Page {
    pub fn read(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let text = fs::read_to_string(root().join(&path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { path, text }
    }

    /// All documents of the project.
    pub fn all() -> Vec<Self> {
        let mut pages = Vec::new();
        find(Path::new(""), &mut pages);
        assert!(pages.len() > 40, "only {} documents were found", pages.len());
        pages
    }

    /// The documents that describe the project as it is: not its history.
    pub fn current() -> Vec<Self> {
        let mut pages = Self::all();
        pages.retain(|page| !page.path.starts_with("docs/adr") && page.path != Path::new("CHANGELOG.md"));
        pages
    }

    /// The blocks of a kind in all current pages.
    pub fn blocks_of(kind: Kind) -> Vec<Block> {
        let blocks = Self::current().into_iter().flat_map(|page| page.blocks());
        let of_kind = blocks.filter(|(_, found)| *found == Some(kind));
        of_kind.map(|(block, _)| block).collect()
    }

    pub fn title(&self) -> &str {
        let first = self.text.lines().next().unwrap_or_default();
        first.strip_prefix("# ").expect("a document begins with its title")
    }

    /// The targets of its links within the project, without those that rustdoc resolves.
    pub fn links(&self) -> impl Iterator<Item = &str> {
        self.all_links().filter(is_in_project)
    }

    /// The targets of its inline links within the project.
    pub fn inline_links(&self) -> impl Iterator<Item = &str> {
        self.all_inline_links().filter(is_in_project)
    }

    /// The targets of all its links.
    pub fn all_links(&self) -> impl Iterator<Item = &str> {
        let defined = self.prose().filter(|line| line.starts_with('['));
        let defined = defined
            .filter_map(|line| line.split_once("]: "))
            .map(|(_, target)| target.trim());
        self.all_inline_links().chain(defined)
    }

    fn all_inline_links(&self) -> impl Iterator<Item = &str> {
        let links = self.prose().flat_map(|line| line.split("](").skip(1));
        links.filter_map(|rest| rest.split(')').next())
    }

    pub fn resolves(&self, link: &str) -> bool {
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

    pub fn describe(&self, link: &str) -> String {
        format!("{}: {link}", self.path.display())
    }

    fn has_anchor(&self, anchor: &str) -> bool {
        let headings = self.prose().filter(|line| line.starts_with('#'));
        headings
            .map(|line| slug(line.trim_start_matches('#').trim()))
            .any(|slug| slug == anchor)
    }

    /// Its lines outside of code blocks.
    pub fn prose(&self) -> impl Iterator<Item = &str> {
        let mut is_code = false;
        self.text.lines().filter(move |line| {
            let is_fence = line.trim_start().starts_with("```");
            is_code ^= is_fence;
            !is_code && !is_fence
        })
    }

    /// Its inline code.
    pub fn inline_code(&self) -> Vec<String> {
        let prose: Vec<_> = self.prose().collect();
        let paragraphs = prose.split(|line| line.is_empty());
        let text = paragraphs.map(|lines| lines.join(" "));
        let code = text.flat_map(|text| {
            text.split('`')
                .skip(1)
                .step_by(2)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        });
        code.collect()
    }

    /// Its fenced blocks, with the kind of each, or none if no test checks it.
    pub fn blocks(&self) -> Vec<(Block, Option<Kind>)> {
        let mut blocks: Vec<(Block, Option<Kind>)> = Vec::new();
        let mut lines = self.text.lines().zip(1..);
        while let Some((line, number)) = lines.next() {
            let Some(info) = line.trim_start().strip_prefix("```") else {
                continue;
            };
            let indent = line.len() - line.trim_start().len();
            let inside = lines.by_ref().take_while(|(line, _)| line.trim() != "```");
            let text = inside.map(|(line, _)| format!("{}\n", line.get(indent..).unwrap_or_default()));
            let block = Block {
                location: format!("{}:{number}", self.path.display()),
                info: info.to_owned(),
                text: text.collect(),
            };
            let kind = block.kind(blocks.last().map(|(before, _)| before));
            blocks.push((block, kind));
        }
        blocks
    }
}

impl Block {
    /// The commands of a shell block.
    pub fn without_comments(&self) -> String {
        let lines = self
            .text
            .lines()
            .map(|line| line.split(" #").next().unwrap_or_default().trim_end());
        lines.map(|line| format!("{line}\n")).collect()
    }

    fn kind(&self, before: Option<&Self>) -> Option<Kind> {
        let begins = |start: &str| self.text.starts_with(start);
        let follows_curl = before.is_some_and(|block| block.info == "sh" && block.text.contains("curl -i "));
        Some(match self.info.split_once(" title=").map_or(&*self.info, |_| "file") {
            "file" | "console" => Kind::Console,
            // A block without a language is Rust for rustdoc.
            "" | "rust" | "rust,no_run" => Kind::Doctest,
            "rust,ignore" => Kind::IgnoredRust,
            "sh" => Kind::Shell,
            "toml" if begins("[dependencies]\n") => Kind::Dependencies,
            "toml" if self.text.contains("[[limit]]\n") => Kind::Rules,
            "text" if begins("HTTP/1.1 ") && follows_curl => Kind::CurlOutput,
            "text" if begins("HTTP/1.1 ") || begins("429 ") || begins("RateLimit") => Kind::Response,
            "text" if begins("rules.toml:") => Kind::Diagnostics,
            "text" if self.text.contains("-->") || self.text.contains("─►") => Kind::Diagram,
            "text" if self.text.contains("p50 ms") => Kind::SoakReport,
            "yaml" | "nginx" | "caddyfile" => Kind::ForeignConfig,
            _ => return None,
        })
    }
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
