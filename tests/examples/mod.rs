//! Every example is run, and receives the requests of its opening comment.

mod from_tower_governor;
mod listed;
mod migrating;
mod outcomes;
mod quickstart;
mod rules;
mod services;
mod standalone;

use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, Command},
};

use reqwest::{Client, Response};

/// A running example and its URL, killed on drop.
struct Server {
    program: Child,
    url: String,
}

impl Server {
    fn start(mut example: Command) -> Self {
        let mut program = example.env("LISTEN", "127.0.0.1:0").spawn().unwrap();
        let mut output = BufReader::new(program.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let url = line
            .trim()
            .strip_prefix("listening on ")
            .unwrap_or_else(|| panic!("{line:?}"));
        let url = url.split(',').next().unwrap().to_owned();
        // A full pipe would block the example.
        std::thread::spawn(move || output.read_to_end(&mut Vec::new()));
        Self { program, url }
    }

    async fn get(&self, path: &str, header: (&str, &str)) -> Response {
        let request = Client::new().get(format!("{}{path}", self.url));
        request.header(header.0, header.1).send().await.unwrap()
    }

    /// The statuses of sequential requests.
    async fn statuses(&self, times: usize, path: &str, header: (&str, &str)) -> Vec<u16> {
        let mut statuses = Vec::new();
        for _ in 0..times {
            statuses.push(self.get(path, header).await.status().as_u16());
        }
        statuses
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.program.kill().unwrap();
        self.program.wait().unwrap();
    }
}

fn header(response: &Response, name: &str) -> String {
    response.headers()[name].to_str().unwrap().to_owned()
}

/// The remaining quota of a tier, from the `RateLimit` header.
fn remaining(tier: &str, response: &Response) -> u32 {
    let tiers = header(response, "ratelimit");
    let (_, rest) = tiers.split_once(&format!("\"{tier}\";r=")).unwrap();
    rest.split(';').next().unwrap().parse().unwrap()
}
