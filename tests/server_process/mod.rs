//! A server of the `tollgate` command as a process, with a rules file, a log and an admin address.

mod running;
pub(crate) mod socket;

use std::{fs, net::SocketAddr, process::Command};

use axum::http::Method;
use reqwest::Client;

pub(crate) use self::running::{Running, subcommand};
use support::{
    folder::Folder,
    http::Reply,
    wait::{TEST_TIMEOUT, eventually},
};

/// Killed on drop.
pub(crate) struct ServerProcess {
    pub(crate) running: Running,
    pub(crate) admin: SocketAddr,
    pub(crate) client: Client,
    folder: Folder,
}

impl ServerProcess {
    /// Starts a subcommand with these rules and options.
    pub(crate) fn start(program: &mut Command, rules: &str, options: &[&str]) -> Self {
        let folder = Folder::new("server");
        fs::write(folder.file("rules.toml"), rules).unwrap();
        let log = fs::File::create(folder.file("log")).unwrap();
        program
            .args(["--admin", "127.0.0.1:0"])
            .args(["--rules", &folder.file("rules.toml")])
            .args(options)
            .stderr(log);
        let running = Running::start(program);
        Self {
            admin: running.address("admin     http://"),
            running,
            client: Client::builder().no_proxy().timeout(TEST_TIMEOUT).build().unwrap(),
            folder,
        }
    }

    /// The path of the rules file.
    pub(crate) fn rules(&self) -> String {
        self.folder.file("rules.toml")
    }

    /// The log so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.file("log")).unwrap()
    }

    /// Sends a request to the admin server.
    pub(crate) async fn admin(&self, method: Method, path: &str) -> Reply {
        let url = format!("http://{}{path}", self.admin);
        Reply::to(self.client.request(method, url)).await
    }

    /// Waits until `/healthz` reports this status.
    pub(crate) async fn until_status(&self, wanted: &str) {
        eventually(wanted, async || {
            self.admin(Method::GET, "/healthz").await.json()["status"] == wanted
        })
        .await;
    }

    /// The value of a metric, by its name and labels; 0 if there is none.
    pub(crate) async fn metric(&self, sample: &str) -> f64 {
        let page = self.admin(Method::GET, "/metrics").await.body;
        let values = page.lines().filter_map(|line| line.strip_prefix(sample));
        let value = values.filter_map(|value| value.strip_prefix(' ')).next();
        value.map_or(0.0, |value| value.parse().unwrap())
    }
}
