//! The console blocks of all pages: each command is run, and its output is compared.
//!
//! A block ```` ```toml title="rules.toml" ```` is a file. In a block ```` ```console ````, lines that begin with `$ ` are
//! commands, and the lines below are their output; `[..]` matches any text in a line. A command that ends in ` &` runs until
//! the end of the page.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    thread,
};

use support::{
    folder::Folder,
    page::{Block, Kind},
    port::Port,
    project::{program_path, root},
    redis::RedisServer,
};

use super::SUBCOMMANDS;

/// A page that is run from top to bottom, with its own folder and Redis.
struct Page {
    folder: Folder,
    /// A port in the page, and the port that replaces it.
    ports: Vec<(&'static str, String)>,
    running: Vec<Child>,
    commands: usize,
    _redis: RedisServer,
    _free: [Port; 5],
}

impl Page {
    fn new() -> Self {
        let redis = RedisServer::start();
        let free = [(); 5].map(|()| Port::free());
        let numbers = free.iter().map(|port| port.number().to_string());
        let mut ports: Vec<_> = ["8080", "8081", "8082", "9090", "4000"]
            .into_iter()
            .zip(numbers)
            .collect();
        let port = redis.url().rsplit(':').next().unwrap().to_owned();
        ports.push(("6379", port));
        Self {
            folder: Folder::new("documented"),
            ports,
            running: Vec::new(),
            commands: 0,
            _redis: redis,
            _free: free,
        }
    }

    fn with_test_ports(&self, text: &str) -> String {
        let replace = |text: String, (documented, actual): &(&str, String)| {
            let text = text.replace(&format!(":{documented}"), &format!(":{actual}"));
            text.replace(&format!(" {documented} "), &format!(" {actual} "))
        };
        self.ports.iter().fold(text.to_owned(), replace)
    }

    fn run(&mut self, command: &str, printed: &[String]) {
        self.commands += 1;
        let (waits, command) = match command.strip_suffix(" &") {
            Some(command) => (false, command),
            None => (true, command),
        };
        let tools = program_path("tollgate");
        let path = format!("{}:{}", tools.parent().unwrap().display(), env::var("PATH").unwrap());
        let mut shell = Command::new("sh");
        shell
            .args([
                "-c",
                &format!("exec 2>&1; {}{command}", if waits { "" } else { "exec " }),
            ])
            .current_dir(self.folder.path())
            .env("PATH", path)
            .env_remove("http_proxy")
            .stdout(Stdio::piped());
        let mut child = shell.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let lines = output.lines().map(Result::unwrap);
        let lines: Vec<String> = match waits {
            true => lines.collect(),
            false => lines.take(printed.len()).collect(),
        };
        match waits {
            true => drop(child.wait().unwrap()),
            false => self.running.push(child),
        }
        let all = lines.join("\n");
        assert_eq!(lines.len(), printed.len(), "$ {command}\n{all}");
        for (line, pattern) in lines.iter().zip(printed) {
            assert!(
                matches(line, pattern),
                "$ {command}\n{line}\nwhere the page has\n{pattern}\nof\n{all}"
            );
        }
    }

    fn run_block(&mut self, block: &Block) {
        let text = self.with_test_ports(&block.text);
        if let Some((_, title)) = block.info.split_once(" title=") {
            fs::write(self.folder.file(title.trim_matches('"')), text).unwrap();
            return;
        }
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut rest = &lines[..];
        while let [command, after @ ..] = rest {
            let command = command.strip_prefix("$ ").expect("a command");
            let end = after
                .iter()
                .position(|line| line.starts_with("$ "))
                .unwrap_or(after.len());
            // A blank line before the next command is not output.
            let mut printed = &after[..end];
            while let [before @ .., last] = printed
                && last.is_empty()
            {
                printed = before;
            }
            self.run(command, printed);
            rest = &after[end..];
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        for child in &mut self.running {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

/// Whether a line matches a pattern, in which `[..]` is any text.
fn matches(line: &str, pattern: &str) -> bool {
    let mut pieces = pattern.split("[..]");
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else {
        return false;
    };
    let mut is_last_open = false;
    for piece in pieces {
        let Some(at) = (if piece.is_empty() {
            Some(rest.len())
        } else {
            rest.find(piece)
        }) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
        is_last_open = piece.is_empty();
    }
    rest.is_empty() || is_last_open
}

/// The console blocks of each page that has some.
fn pages() -> Vec<(String, Vec<Block>)> {
    let mut pages: Vec<(String, Vec<Block>)> = Vec::new();
    for block in support::page::Page::blocks_of(Kind::Console) {
        let (page, _) = block.location.split_once(':').unwrap();
        match pages.last_mut() {
            Some((last, blocks)) if last == page => blocks.push(block),
            _ => pages.push((page.to_owned(), vec![block])),
        }
    }
    pages
}

#[test]
fn the_commands_of_every_page() {
    let pages = pages();
    thread::scope(|scope| {
        for (name, blocks) in &pages {
            scope.spawn(move || {
                let mut page = Page::new();
                for block in blocks {
                    page.run_block(block);
                }
                let text = fs::read_to_string(root().join(name)).unwrap();
                let commands = text.lines().filter(|line| line.starts_with("$ ")).count();
                assert_eq!(page.commands, commands, "{name}");
                assert!(commands > 0, "{name} has files, and no command that reads them");
            });
        }
    });
}

#[test]
fn cli_md_runs_every_subcommand() {
    let text = fs::read_to_string(root().join("docs/cli.md")).unwrap();
    for subcommand in SUBCOMMANDS {
        let run = format!("\n$ tollgate {subcommand}");
        assert!(text.contains(&run), "docs/cli.md does not run {subcommand}");
    }
}

#[test]
fn patterns_match_any_text() {
    for (line, pattern, is_match) in [
        ("a b", "a b", true),
        ("a b", "a [..]", true),
        ("a b c", "a [..] c", true),
        ("a b d", "a [..] c", false),
        ("a", "b", false),
        ("ab", "a", false),
        ("", "[..]", true),
    ] {
        assert_eq!(matches(line, pattern), is_match, "{line}: {pattern}");
    }
}
