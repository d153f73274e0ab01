//! A gateway process with a rules file, and a client for it.

use std::{
    fs,
    net::SocketAddr,
    ops::Deref,
    process::{Command, ExitStatus},
};

use axum::http::Method;
use reqwest::RequestBuilder;

use support::http::Reply;

use crate::server_process::{ServerProcess, subcommand};

/// Rules that count every request and deny none.
pub(crate) const COUNT_ONLY: &str = "
[[limit]]
name = \"all\"
algorithm = \"fixed_window\"
limit = 1000000
window = \"3650d\"
key = \"global\"
";

/// Rules that admit `limit` requests in `scope`, like `methods = ['POST']`; the window does not end while a test runs.
pub(crate) fn at_most(limit: u32, scope: &str) -> String {
    let terms = "algorithm = 'fixed_window'\nwindow = '3650d'\nkey = 'global'";
    format!("[[limit]]\nname = 'all'\nlimit = {limit}\n{terms}\n{scope}\n")
}

/// A gateway at free ports.
pub(crate) struct Gateway {
    server: ServerProcess,
    pub(crate) address: SocketAddr,
}

impl Deref for Gateway {
    type Target = ServerProcess;

    fn deref(&self) -> &ServerProcess {
        &self.server
    }
}

pub(crate) fn program() -> Command {
    subcommand("gateway")
}

impl Gateway {
    /// With these rules and options.
    pub(crate) fn start(rules: &str, options: &[&str]) -> Self {
        let server = ServerProcess::start(program().args(["--listen", "127.0.0.1:0"]), rules, options);
        let address = server.running.address("listening on http://");
        Self { server, address }
    }

    pub(crate) fn wait_for_exit(mut self) -> ExitStatus {
        self.exited()
    }

    /// Waits for the exit of a gateway whose log is read afterwards.
    pub(crate) fn exited(&mut self) -> ExitStatus {
        self.server.running.wait_for_exit()
    }

    /// In front of this service.
    pub(crate) fn with_upstream(upstream: &str, rules: &str, options: &[&str]) -> Self {
        Self::start(rules, &[&["--upstream", upstream], options].concat())
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The peak resident memory, in bytes.
    pub(crate) fn peak_memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.running.child.id())).unwrap();
        let (_, rest) = status.split_once("VmHWM:").unwrap();
        let (kilobytes, _) = rest.trim_start().split_once(' ').unwrap();
        kilobytes.parse::<u64>().unwrap() << 10
    }

    /// The number of open sockets.
    pub(crate) fn open_sockets(&self) -> usize {
        // Files are not counted: the rules file is open at times.
        let files = fs::read_dir(format!("/proc/{}/fd", self.running.child.id())).unwrap();
        let targets = files.filter_map(|file| fs::read_link(file.unwrap().path()).ok());
        targets
            .filter(|target| target.to_string_lossy().starts_with("socket:"))
            .count()
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, self.url() + path)
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        Reply::to(self.request(Method::GET, path)).await
    }
}
