//! The console blocks of docs/cli.md and docs/simulate.md: each command is run, and its output is compared.
//!
//! A block ```` ```toml title="rules.toml" ```` is a file. In a block ```` ```console ````, lines that begin with `$ ` are
//! commands, and the lines below are their output; `[..]` matches any text in a line. A command that ends in ` &` runs until
//! the end of the page.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use support::{
    folder::Folder,
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

    fn read(mut self, text: &str) -> usize {
        let text = self.with_test_ports(text);
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let Some(fence) = line.strip_prefix("```") else {
                continue;
            };
            let block: Vec<String> = lines
                .by_ref()
                .take_while(|line| *line != "```")
                .map(str::to_owned)
                .collect();
            if let Some((_, title)) = fence.split_once(" title=") {
                fs::write(self.folder.file(title.trim_matches('"')), block.join("\n") + "\n").unwrap();
            } else if fence == "console" {
                let mut rest = &block[..];
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
        self.commands
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

#[test]
fn the_commands_in_cli_md() {
    let text = fs::read_to_string(root().join("docs/cli.md")).unwrap();
    assert_eq!(
        Page::new().read(&text),
        text.lines().filter(|line| line.starts_with("$ ")).count()
    );
    for subcommand in SUBCOMMANDS {
        let run = format!("\n$ tollgate {subcommand}");
        assert!(text.contains(&run), "docs/cli.md does not run {subcommand}");
    }
}

#[test]
fn the_commands_in_simulate_md() {
    let text = fs::read_to_string(root().join("docs/simulate.md")).unwrap();
    assert_eq!(
        Page::new().read(&text),
        text.lines().filter(|line| line.starts_with("$ ")).count()
    );
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
