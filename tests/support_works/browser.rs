//! The browser detects errors of a page and leaves no process or file behind.

use std::{fs, path::Path};

use axum::{Router, response::Html, routing::get};
use fantoccini::key::Key;

use support::{
    browser::{Browser, Screen},
    http::Server,
};

/// Phones shrink pages without this tag.
const VIEWPORT: &str = r#"<meta name="viewport" content="width=device-width">"#;

/// Opens a page with this content and an empty icon, which the browser would request otherwise.
async fn open(content: &str) -> (Server, Browser) {
    let page = format!(r#"<!doctype html><link rel="icon" href="data:,"><body style="margin: 0">{content}"#);
    let server = Server::start(Router::new().route("/", get(async || Html(page)))).await;
    let browser = Browser::start().await;
    browser.open(&server.url()).await;
    (server, browser)
}

#[tokio::test]
async fn console_errors_are_reported_once() {
    let (server, browser) = open(
        r#"<img src="/missing"><img src="http://localhost/picture">
<script>console.error("wrong", 1)</script>
<script>missing.method()</script>"#,
    )
    .await;
    // `localhost` is not resolvable in this browser.
    let mut console = browser.console().await;
    // Missing images are reported in any order.
    console.sort();
    let page = server.url();
    let expected = [
        format!(r#"SEVERE {page}/ 1:16 "wrong" 1"#),
        format!("SEVERE {page}/ 2:8 Uncaught ReferenceError: missing is not defined"),
        format!(
            "SEVERE {page}/missing - Failed to load resource: the server responded with a status of 404 (Not Found)"
        ),
        "SEVERE http://localhost/picture - Failed to load resource: net::ERR_NAME_NOT_RESOLVED".to_owned(),
    ];
    assert_eq!(console, expected);
    assert_eq!(browser.console().await, [""; 0]);
}

#[tokio::test]
async fn horizontal_overflow_is_measured() {
    let wide = format!(r#"{VIEWPORT}<div style="width: 1500px; height: 100px">"#);
    let (_server, browser) = open(&wide).await;
    assert_eq!(browser.overhang().await, 220);
    browser.show_on(Screen::PHONE).await;
    assert_eq!(browser.overhang().await, 1140);
    browser
        .value("document.querySelector('div').style.width = '360px'")
        .await;
    assert_eq!(browser.overhang().await, 0);
}

#[tokio::test]
async fn a_page_that_a_phone_shrinks_overflows() {
    let (_server, browser) = open("<p>small").await;
    assert_eq!(browser.overhang().await, 0);
    browser.show_on(Screen::PHONE).await;
    // Such pages are laid out on 980 pixels.
    assert_eq!(browser.overhang().await, 620);
}

#[tokio::test]
async fn media_features_are_emulated() {
    let (_server, browser) = open("<p>").await;
    let is_dark = "matchMedia('(prefers-color-scheme: dark)').matches";
    let is_reduced = "matchMedia('(prefers-reduced-motion: reduce)').matches";
    for (features, dark, reduced) in [
        (&[][..], false, false),
        (&[("prefers-color-scheme", "dark")], true, false),
        (&[("prefers-reduced-motion", "reduce")], false, true),
    ] {
        browser.prefer(features).await;
        assert_eq!(browser.value(is_dark).await, dark, "{features:?}");
        assert_eq!(browser.value(is_reduced).await, reduced, "{features:?}");
    }
}

#[tokio::test]
async fn keys_are_sent_to_the_focused_element() {
    let (_server, browser) = open(
        r#"<button onclick="pressed = this.id" id="first">1</button>
        <button onclick="pressed = this.id" id="second">2</button><input>
        <script>var pressed = ""</script>"#,
    )
    .await;
    browser.press([Key::Tab]).await;
    browser.press([Key::Enter]).await;
    assert_eq!(browser.value("pressed").await, "first");
    browser.press([Key::Tab]).await;
    browser.press([' ']).await;
    assert_eq!(browser.value("pressed").await, "second");
    browser.press([Key::Shift, Key::Tab]).await;
    assert_eq!(browser.value("document.activeElement.id").await, "first");
    browser.click("input").await;
    browser.press(['a']).await;
    browser.press([char::from(Key::Shift), 'b']).await;
    assert_eq!(browser.value("document.activeElement.value").await, "aB");
}

#[tokio::test]
async fn until_polls_an_expression() {
    let (_server, browser) = open("<script>var looks = 0</script>").await;
    browser.until("++looks == 3").await;
    assert_eq!(browser.value("looks").await, 3);
}

#[tokio::test]
async fn a_screenshot_contains_the_whole_page() {
    let tall = format!(r#"{VIEWPORT}<div style="height: 1500px">"#);
    let (_server, browser) = open(&tall).await;
    for (screen, name) in [
        (Screen::PHONE, "tall-phone.png"),
        (Screen::TABLET, "tall-tablet.png"),
        (Screen::DESKTOP, "tall-desktop.png"),
    ] {
        let path = browser.picture("tall", screen).await;
        assert!(path.ends_with(name), "{path:?}");
        // The header of a PNG file contains the size.
        let file = fs::read(path).unwrap();
        let number = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().unwrap());
        assert_eq!((number(16), number(20)), (screen.width, 1500));
        assert_eq!(browser.value("innerHeight").await, screen.height);
    }
}

/// The number of processes with this folder in their command line.
fn processes(folder: &Path) -> usize {
    // The name of another folder may begin with this one's.
    let folder = format!("{}/", folder.display());
    let processes = fs::read_dir("/proc").unwrap();
    // A process that has exited since has no command line.
    let commands = processes.filter_map(|process| fs::read(process.unwrap().path().join("cmdline")).ok());
    commands
        .filter(|command| String::from_utf8_lossy(command).contains(&folder))
        .count()
}

#[tokio::test]
async fn dropping_the_browser_ends_its_processes_and_removes_its_files() {
    let (_server, browser) = open("<p>").await;
    let folder = browser.folder().to_owned();
    assert!(folder.join("profile").exists());
    let socket = fs::read_link(folder.join("profile/SingletonSocket")).unwrap();
    assert!(socket.starts_with(&folder), "{socket:?}");
    assert!(processes(&folder) > 3);
    drop(browser);
    assert_eq!(processes(&folder), 0);
    assert!(!folder.exists());
}

#[tokio::test]
async fn clicking_a_covered_button_panics_and_the_browser_ends() {
    let (_server, browser) = open(
        r#"<button>press</button>
        <div style="position: fixed; inset: 0">cover</div>"#,
    )
    .await;
    let folder = browser.folder().to_owned();
    let test = tokio::spawn(async move { browser.click("button").await });
    let panic = test.await.unwrap_err().into_panic();
    let message = panic.downcast_ref::<String>().unwrap();
    assert!(message.contains("element click intercepted"), "{message}");
    assert_eq!(processes(&folder), 0);
    assert!(!folder.exists());
}
