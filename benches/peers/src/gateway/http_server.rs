//! The programs under load, each in its own process.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use crate::subprocess::{Subprocess, sibling_program};

const RULES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/gateway/rules.toml");

/// A program that serves HTTP, stopped on drop.
pub struct HttpServer {
    _process: Subprocess,
    pub url: String,
}

impl HttpServer {
    pub fn upstream() -> Self {
        Self::start("upstream", &[])
    }

    /// A gateway in front of this upstream.
    pub fn gateway(upstream: &Self, options: &[&str]) -> Self {
        let fixed = [
            "gateway",
            "--listen",
            "127.0.0.1:0",
            "--upstream",
            &upstream.url,
            "--rules",
            RULES,
        ];
        Self::start("tollgate", &[&fixed, options].concat())
    }

    /// Starts a program, and parses its URL from its output.
    fn start(program: &str, arguments: &[&str]) -> Self {
        let started = Subprocess::start(sibling_program(program), arguments, "http://");
        let (process, line) = started.unwrap_or_else(|| panic!("{program} did not start: is it built?"));
        let address = line.split_once("http://").map_or("", |(_, rest)| rest);
        let end = address.find([',', '\n']).unwrap_or(address.len());
        Self {
            _process: process,
            url: format!("http://{}", &address[..end]),
        }
    }

    /// Whether responses contain rate-limit headers.
    pub fn has_limits(&self) -> bool {
        let address = self.url.trim_start_matches("http://");
        let mut socket = TcpStream::connect(address).expect("a listening server");
        let request = "GET / HTTP/1.1\r\nhost: gateway\r\nx-user-id: 1\r\nconnection: close\r\n\r\n";
        socket.write_all(request.as_bytes()).expect("a sent request");
        let mut response = String::new();
        socket.read_to_string(&mut response).expect("a response");
        assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
        response.contains("\r\nx-ratelimit-remaining: ")
    }
}
