//! An example that is a server, as a process.

use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, Command},
};

use reqwest::{Client, Response};

/// A running example and its URL, killed on drop.
pub struct ExampleServer {
    pub program: Child,
    pub url: String,
}

impl ExampleServer {
    pub fn start(mut example: Command) -> Self {
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

    pub async fn get(&self, path: &str, header: (&str, &str)) -> Response {
        let request = Client::new().get(format!("{}{path}", self.url));
        request.header(header.0, header.1).send().await.unwrap()
    }

    /// The statuses of sequential requests.
    pub async fn statuses(&self, times: usize, path: &str, header: (&str, &str)) -> Vec<u16> {
        let mut statuses = Vec::new();
        for _ in 0..times {
            statuses.push(self.get(path, header).await.status().as_u16());
        }
        statuses
    }
}

impl Drop for ExampleServer {
    fn drop(&mut self) {
        self.program.kill().unwrap();
        self.program.wait().unwrap();
    }
}
