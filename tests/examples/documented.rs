//! The `curl` commands of the documents, sent to the service that their page starts, and the responses that it shows.

use std::process::Command;

use axum::{Router, routing::get};
use support::{
    http,
    page::{Block, Kind, Page},
    project::example,
    wait::eventually,
};
use tollgate::{ClientIp, ManualClock, MemoryStore, Quota, RateLimitLayer};

use crate::examples::Server;

/// The service that the commands of a page request.
enum Service {
    Example(Server),
    /// The service of the quick start.
    Hello(http::Server),
}

impl Service {
    /// The service that a block starts, if it starts one.
    async fn started_by(block: &Block) -> Option<Self> {
        let text = block.without_comments();
        let command = text.lines().find(|line| line.starts_with("cargo run"))?;
        if command == "cargo run" {
            // Its clock stands still, however slow the commands are.
            let store = MemoryStore::builder().clock(ManualClock::at(0)).build();
            let limit = RateLimitLayer::token_bucket("hello", Quota::per_minute(5), ClientIp::peer(), store);
            let app = Router::new().route("/", get(async || "hello\n")).layer(limit);
            return Some(Self::Hello(http::Server::start(app).await));
        }
        let words: Vec<_> = command.split_whitespace().collect();
        let name = match words[2..] {
            ["-p", package, ..] => package.strip_prefix("example-")?.replace('-', "_"),
            ["--example", name, ..] => name.to_owned(),
            _ => return None,
        };
        Some(Self::Example(Server::start(example(&name))))
    }

    fn url(&self) -> String {
        match self {
            Self::Example(server) => server.url.clone(),
            Self::Hello(server) => server.url(),
        }
    }
}

/// A line without the times in it, which depend on how fast the commands follow each other.
fn without_times(line: &str) -> String {
    if line.starts_with("x-ratelimit-reset") {
        return line.split(':').next().unwrap_or_default().to_owned();
    }
    let is_time = |before: &str| {
        ["retry-after: ", ";t=", "retry after "]
            .iter()
            .any(|name| before.ends_with(name))
    };
    let mut kept = String::new();
    for letter in line.chars() {
        if !(letter.is_ascii_digit() && is_time(&kept)) {
            kept.push(letter);
        }
    }
    kept
}

/// Whether the sample has only lines of the response, in which `..` is any text.
fn shows(sample: &str, response: &str) -> bool {
    let lines: Vec<_> = response.lines().map(without_times).collect();
    sample
        .lines()
        .map(without_times)
        .all(|sample| lines.iter().any(|line| matches(line, &sample)))
}

fn matches(line: &str, pattern: &str) -> bool {
    let Some((start, rest)) = pattern.split_once("..") else {
        return line == pattern;
    };
    let after = line.strip_prefix(start);
    after.is_some_and(|after| after.char_indices().any(|(at, _)| matches(&after[at..], rest)))
}

/// What the commands of a block print.
fn run(block: &Block, url: &str) -> String {
    let text = block.without_comments();
    let commands = text.lines().filter(|line| !line.starts_with("cargo run"));
    let commands = commands
        .collect::<Vec<_>>()
        .join("\n")
        .replace("http://127.0.0.1:3000", url);
    let mut shell = Command::new("sh");
    let ran = shell
        .args(["-ec", &commands])
        .env_remove("http_proxy")
        .output()
        .unwrap();
    let output = String::from_utf8(ran.stdout).unwrap().replace('\r', "");
    assert!(
        ran.status.success() && !output.is_empty(),
        "{}: {output}",
        block.location
    );
    output
}

#[tokio::test(flavor = "multi_thread")]
async fn curl_commands_get_the_responses_of_their_page() {
    let mut shown = 0;
    for page in Page::current() {
        let mut service = None;
        let mut blocks = page.blocks().into_iter().peekable();
        while let Some((block, kind)) = blocks.next() {
            if kind != Some(Kind::Shell) {
                continue;
            }
            service = Service::started_by(&block).await.or(service);
            if !block.without_comments().contains("curl ") {
                continue;
            }
            let service = service
                .as_ref()
                .unwrap_or_else(|| panic!("{}: no service", block.location));
            let mut output = run(&block, &service.url());
            if block.text.contains("%{http_code}") {
                assert_eq!(output, "200\n200\n200\n200\n200\n429\n", "{}", block.location);
            }
            let Some((sample, _)) = blocks.next_if(|(_, kind)| *kind == Some(Kind::CurlOutput)) else {
                continue;
            };
            if sample.text.starts_with("HTTP/1.1 429 ") {
                // The request before is settled when its response has ended. A denied request changes nothing.
                eventually(&sample.text, async || {
                    output = run(&block, &service.url());
                    shows(&sample.text, &output)
                })
                .await;
            }
            assert!(shows(&sample.text, &output), "{}\n{output}", sample.location);
            shown += 1;
        }
    }
    assert_eq!(shown, Page::blocks_of(Kind::CurlOutput).len());
}
