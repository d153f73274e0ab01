//! The programs under load, each a process of its own, as anybody would start them.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use crate::{sibling::sibling, watched::Watched};

const RULES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/gateway/rules.toml");

/// A program that serves HTTP, which ends with its owner.
pub struct Process {
    _process: Watched,
    pub url: String,
}

impl Process {
    pub fn upstream() -> Self {
        Self::start("upstream", &[])
    }

    /// A gateway to that service.
    pub fn gateway(to: &Self, options: &[&str]) -> Self {
        let fixed = [
            "gateway",
            "--listen",
            "127.0.0.1:0",
            "--upstream",
            &to.url,
            "--rules",
            RULES,
        ];
        Self::start("tollgate", &[&fixed, options].concat())
    }

    /// It says where it listens.
    fn start(program: &str, arguments: &[&str]) -> Self {
        let started = Watched::start(sibling(program), arguments, "http://");
        let (process, line) = started.unwrap_or_else(|| panic!("{program} does not start: is it built?"));
        let address = line.split_once("http://").map_or("", |(_, rest)| rest);
        let end = address.find([',', '\n']).unwrap_or(address.len());
        Self {
            _process: process,
            url: format!("http://{}", &address[..end]),
        }
    }

    /// Whether an answer tells of limits, and so whether they were asked.
    pub fn limits(&self) -> bool {
        let address = self.url.trim_start_matches("http://");
        let mut socket = TcpStream::connect(address).expect("it listens");
        let request = "GET / HTTP/1.1\r\nhost: gateway\r\nx-user-id: 1\r\nconnection: close\r\n\r\n";
        socket.write_all(request.as_bytes()).expect("it is read");
        let mut answer = String::new();
        socket.read_to_string(&mut answer).expect("it is answered");
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        answer.contains("\r\nx-ratelimit-remaining: ")
    }
}
