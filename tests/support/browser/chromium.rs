//! Starts a browser and ends it. That takes seconds of a processor, so the tests of a binary take turns.

use std::path::{Path, PathBuf};

use fantoccini::{Client, ClientBuilder, wd::Capabilities};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::json;
use tokio::sync::{Mutex, MutexGuard};

use super::Screen;
use crate::{folder::Folder, port::Port, process::Process};

static TURN: Mutex<()> = Mutex::const_new(());

/// Nothing but this machine is reached: a page that asks for more is told that there is no such host, and complains.
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

/// The fields are dropped in this order: the folder is removed when nobody writes to it any more, and then it is the turn
/// of the next.
#[allow(dead_code, reason = "they are held")]
pub struct Browser {
    driver: Process,
    /// For all that WebDriver can do.
    pub client: Client,
    folder: Folder,
    port: Port,
    turn: MutexGuard<'static, ()>,
}

impl Browser {
    /// With a profile of its own, light, on a desktop's screen.
    pub async fn start() -> Self {
        let turn = TURN.lock().await;
        let (chromedriver, chromium) = (
            installed("chromedriver", "chromium-driver"),
            installed("chromium", "chromium"),
        );
        let folder = Folder::short("tollgate-browser");
        let port = Port::free();
        // Crash reports go home, and sockets among the temporary files.
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
            turn,
        };
        browser.show_on(Screen::DESKTOP).await;
        browser
    }

    /// Where its profile and all its other files are.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

fn installed(program: &str, package: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(program));
    places
        .find(|place| place.is_file())
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
