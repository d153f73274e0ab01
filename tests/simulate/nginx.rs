//! A trace that nginx writes, by the format in docs/simulate.md.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    process::{Child, Command},
};

use support::{folder::Folder, port::Port, project::root, wait::until_some};

use super::{Case, limit};
use crate::proxies::nginx;

/// One process, which is killed at the end.
struct Nginx {
    process: Child,
    folder: Folder,
    port: Port,
}

impl Nginx {
    fn start(format: &str) -> Self {
        let (folder, port) = (Folder::new("trace"), Port::free());
        let number = port.number();
        let server = format!("server {{ listen 127.0.0.1:{number}; access_log trace.jsonl trace; return 200; }}");
        let main = "daemon off;\nmaster_process off;\npid nginx.pid;\nerror_log stderr;\nevents {}\n";
        let text = format!("{main}http {{\n{format}\n{server}\n}}\n");
        fs::write(folder.file("nginx.conf"), text).unwrap();
        let mut command = Command::new(nginx::executable());
        command
            .arg("-p")
            .arg(folder.path())
            .args(["-c", "nginx.conf", "-e", "stderr"]);
        let process = command.spawn().unwrap();
        Self { process, folder, port }
    }

    /// Sends a request of this line, with this header.
    fn send(&self, line: &str, header: &str) {
        let address = ("127.0.0.1", self.port.number());
        let mut connection = until_some("nginx listens", || TcpStream::connect(address).ok());
        write!(connection, "{line} HTTP/1.0\r\n{header}\r\n\r\n").unwrap();
        let mut response = String::new();
        connection.read_to_string(&mut response).unwrap();
        assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
    }

    /// The trace, when it has this many lines: nginx writes each after its response.
    fn trace(&self, lines: usize) -> String {
        until_some("nginx has written the trace", || {
            let trace = fs::read_to_string(self.folder.file("trace.jsonl")).ok()?;
            (trace.lines().count() == lines).then_some(trace)
        })
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

#[test]
fn the_documented_format_is_a_trace() {
    let page = fs::read_to_string(root().join("docs/simulate.md")).unwrap();
    let format = page.split("```nginx\n").nth(1).unwrap().split("```").next().unwrap();
    let nginx = Nginx::start(format);
    for (line, header) in [
        ("GET /orders?q=%22", "x-user-id: alice"),
        ("POST /orders", "x-user-id: alice"),
        ("GET /orders", "x-user-id: alice"),
        ("GET /orders", "x-user-id: \"b\\ob"),
        ("GET /orders", "x-other: 1"),
    ] {
        nginx.send(line, header);
    }
    let counted = "limit = 2\nwindow = \"3650d\"\npath = \"/orders\"\nkey = \"header:x-user-id\"\ndefault = \"ip\"";
    let rules = limit("user", "fixed_window", counted);
    let run = Case::trace(&rules, nginx.trace(5)).run(&["--quiet"]);
    let results = run.success();
    let remaining: Vec<&str> = results
        .lines()
        .map(|line| &line[..line.find(",\"retry").unwrap()])
        .collect();
    let result = |admitted: bool, outcome: &str, remaining: u32| {
        format!(
            r#"{{"admitted":{admitted},"delay_us":0,"limits":[{{"name":"user","outcome":"{outcome}","remaining":{remaining}"#
        )
    };
    assert_eq!(
        remaining,
        [
            result(true, "admitted", 1),
            result(true, "admitted", 0),
            result(false, "limited", 0),
            result(true, "admitted", 1),
            result(true, "admitted", 1),
        ]
    );
}
