//! A gateway, started as anybody would start it, and what to ask it with.

use std::{fs, net::SocketAddr};

use axum::http::Method;
use reqwest::{Client, RequestBuilder};

use support::{folder::Folder, http::Reply, patience::PATIENCE};

use crate::gateway::program::{Running, program};

/// Rules that count everybody, and refuse nobody.
pub(crate) const ANY_NUMBER: &str = "
[[limit]]
name = \"all\"
algorithm = \"fixed_window\"
limit = 1000000
window = \"3650d\"
key = \"global\"
";

/// Rules that admit so many, of those that this says: `methods = ['POST']`. Their window ends with nobody's test.
pub(crate) fn at_most(limit: u32, of: &str) -> String {
    let terms = "algorithm = 'fixed_window'\nwindow = '3650d'\nkey = 'global'";
    format!("[[limit]]\nname = 'all'\nlimit = {limit}\n{terms}\n{of}\n")
}

/// A gateway at free ports, which ends with its owner.
pub(crate) struct Gateway {
    pub(crate) running: Running,
    pub(crate) address: SocketAddr,
    pub(crate) admin: SocketAddr,
    folder: Folder,
    client: Client,
}

impl Gateway {
    /// With these rules and these options.
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
            client: Client::builder().no_proxy().timeout(PATIENCE).build().unwrap(),
        }
    }

    /// In front of this service.
    pub(crate) fn to(upstream: &str, rules: &str, options: &[&str]) -> Self {
        Self::start(rules, &[&["--upstream", upstream], options].concat())
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The most memory that it has had so far, in bytes.
    pub(crate) fn most_memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.running.child.id())).unwrap();
        let (_, rest) = status.split_once("VmHWM:").unwrap();
        let (kilobytes, _) = rest.trim_start().split_once(' ').unwrap();
        kilobytes.parse::<u64>().unwrap() << 10
    }

    /// How many files and sockets it has open.
    pub(crate) fn open_sockets(&self) -> usize {
        // A file is open now and then: that of the rules, to be looked at.
        let files = fs::read_dir(format!("/proc/{}/fd", self.running.child.id())).unwrap();
        let targets = files.filter_map(|file| fs::read_link(file.unwrap().path()).ok());
        targets
            .filter(|target| target.to_string_lossy().starts_with("socket:"))
            .count()
    }

    /// The rules file, to be changed.
    pub(crate) fn rules(&self) -> String {
        self.folder.file("rules.toml")
    }

    /// What it has logged so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.file("log")).unwrap()
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, self.url() + path)
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        Reply::to(self.request(Method::GET, path)).await
    }

    /// Asks the admin address.
    pub(crate) async fn admin(&self, method: Method, path: &str) -> Reply {
        let url = format!("http://{}{path}", self.admin);
        Reply::to(self.client.request(method, url)).await
    }
}
