//! Every example is run, as its first lines say, and asked what it says one should try.

mod compare;
mod from_tower_governor;
mod grpc;
mod listed;
mod listening;
mod migrating;
mod outcomes;
mod quickstart;
mod routes_and_keys;
mod rules;
mod waiting;

use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, Command},
};

use reqwest::{Client, Response};

/// An example that serves until it is killed, and where.
struct Server {
    program: Child,
    at: String,
}

impl Server {
    fn start(mut example: Command) -> Self {
        let mut program = example.env("LISTEN", "127.0.0.1:0").spawn().unwrap();
        let mut output = BufReader::new(program.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let at = line
            .trim()
            .strip_prefix("listening on ")
            .unwrap_or_else(|| panic!("{line:?}"));
        let at = at.split(',').next().unwrap().to_owned();
        // Whoever stops reading a pipe stops its writer.
        std::thread::spawn(move || output.read_to_end(&mut Vec::new()));
        Self { program, at }
    }

    async fn get(&self, path: &str, header: (&str, &str)) -> Response {
        let request = Client::new().get(format!("{}{path}", self.at));
        request.header(header.0, header.1).send().await.unwrap()
    }

    /// The statuses of so many requests in a row.
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

/// What is left of a tier, by the list of them all.
fn left(tier: &str, response: &Response) -> u32 {
    let tiers = header(response, "ratelimit");
    let (_, rest) = tiers.split_once(&format!("\"{tier}\";r=")).unwrap();
    rest.split(';').next().unwrap().parse().unwrap()
}
