//! Starts and stops a browser. That takes seconds of CPU time, so only one runs per test process.

use std::path::{Path, PathBuf};

use fantoccini::{Client, ClientBuilder, wd::Capabilities};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::json;
use tokio::sync::{Mutex, MutexGuard};

use super::Screen;
use crate::{folder::Folder, port::Port, process::Process};

static RUNNING: Mutex<()> = Mutex::const_new(());

/// The browser reaches only 127.0.0.1: every other host name is unresolvable, which the console reports.
const FLAGS: [&str; 11] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

/// Fields drop in order: the folder is removed after the processes that write to it have exited, and the lock is released last.
#[allow(dead_code, reason = "some fields are kept only for their drop")]
pub struct Browser {
    driver: Process,
    /// The WebDriver client.
    pub client: Client,
    folder: Folder,
    port: Port,
    running: MutexGuard<'static, ()>,
}

impl Browser {
    /// Starts a browser with an empty profile and a desktop screen.
    pub async fn start() -> Self {
        let running = RUNNING.lock().await;
        let (chromedriver, chromium) = (
            installed("chromedriver", "chromium-driver"),
            installed("chromium", "chromium"),
        );
        let folder = Folder::short("tollgate-browser");
        let port = Port::free();
        // Chromium writes crash reports to HOME and sockets to TMPDIR.
        let home = folder.path().display();
        let command = [
            "env".into(),
            "--unset=XDG_CONFIG_HOME".into(),
            "--unset=XDG_CACHE_HOME".into(),
            format!("HOME={home}"),
            format!("TMPDIR={home}"),
            chromedriver.display().to_string(),
            format!("--port={}", port.number()),
        ];
        let driver = Process::start(&command, &["started successfully"]);
        let mut builder = ClientBuilder::new(HttpConnector::new());
        builder.capabilities(capabilities(&chromium, &folder.file("profile")));
        let address = format!("http://127.0.0.1:{}", port.number());
        let browser = Self {
            client: builder.connect(&address).await.unwrap(),
            driver,
            folder,
            port,
            running,
        };
        browser.show_on(Screen::DESKTOP).await;
        browser
    }

    /// The folder of the profile and all other files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

fn installed(program: &str, package: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut candidates = std::env::split_paths(&path).map(|folder| folder.join(program));
    candidates
        .find(|candidate| candidate.is_file())
        .unwrap_or_else(|| panic!("no {program} on the PATH: install it (Debian: apt-get install {package})"))
}

fn capabilities(chromium: &Path, profile: &str) -> Capabilities {
    let mut flags = FLAGS.map(String::from).to_vec();
    flags.push(format!("--user-data-dir={profile}"));
    Capabilities::from_iter([
        ("goog:chromeOptions".into(), json!({"binary": chromium, "args": flags})),
        ("goog:loggingPrefs".into(), json!({"browser": "ALL"})),
    ])
}
