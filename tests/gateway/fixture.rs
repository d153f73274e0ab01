//! A gateway process with a rules file, and a client for it.

use std::{fs, net::SocketAddr};

use axum::http::Method;
use reqwest::{Client, RequestBuilder};

use support::{folder::Folder, http::Reply, wait::TEST_TIMEOUT};

use crate::gateway::program::{Running, program};

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

/// A gateway at free ports, killed on drop.
pub(crate) struct Gateway {
    pub(crate) running: Running,
    pub(crate) address: SocketAddr,
    pub(crate) admin: SocketAddr,
    folder: Folder,
    client: Client,
}

impl Gateway {
    /// With these rules and options.
    pub(crate) fn start(rules: &str, options: &[&str]) -> Self {
        let folder = Folder::new("gateway");
        fs::write(folder.file("rules.toml"), rules).unwrap();
        let log = fs::File::create(folder.file("log")).unwrap();
        let mut program = program();
        program
            .args(["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"])
            .args(["--rules", &folder.file("rules.toml")])
            .args(options)
            .stderr(log);
        let running = Running::start(&mut program);
        Self {
            address: running.address("listening on http://"),
            admin: running.address("admin     http://"),
            running,
            folder,
            client: Client::builder().no_proxy().timeout(TEST_TIMEOUT).build().unwrap(),
        }
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

    /// The path of the rules file.
    pub(crate) fn rules(&self) -> String {
        self.folder.file("rules.toml")
    }

    /// The log so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.file("log")).unwrap()
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, self.url() + path)
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        Reply::to(self.request(Method::GET, path)).await
    }

    /// Sends a request to the admin server.
    pub(crate) async fn admin(&self, method: Method, path: &str) -> Reply {
        let url = format!("http://{}{path}", self.admin);
        Reply::to(self.client.request(method, url)).await
    }
}
