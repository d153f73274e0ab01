//! A browser sees what is wrong with a page, and leaves nothing behind.

use std::{fs, path::Path};

use axum::{Router, response::Html, routing::get};
use fantoccini::key::Key;

use support::{
    browser::{Browser, Screen},
    http::Server,
};

/// Phones shrink pages that do not say this.
const FITS: &str = r#"<meta name="viewport" content="width=device-width">"#;

/// A page of this content, whose icon is empty, so that nobody asks for one.
async fn open(content: &str) -> (Server, Browser) {
    let page = format!(r#"<!doctype html><link rel="icon" href="data:,"><body style="margin: 0">{content}"#);
    let server = Server::start(Router::new().route("/", get(async || Html(page)))).await;
    let browser = Browser::start().await;
    browser.open(&server.url()).await;
    (server, browser)
}

#[tokio::test]
async fn what_a_page_complains_of_is_seen_once() {
    let (server, browser) = open(
        r#"<img src="/missing"><img src="http://localhost/picture">
<script>console.error("wrong", 1)</script>
<script>nobody.knows()</script>"#,
    )
    .await;
    // The last address is this machine's too, but not by a name that the browser may ask for.
    let mut console = browser.console().await;
    // Whether pictures are missing is known sooner or later than the rest.
    console.sort();
    let page = server.url();
    let expected = [
        format!(r#"SEVERE {page}/ 1:16 "wrong" 1"#),
        format!("SEVERE {page}/ 2:8 Uncaught ReferenceError: nobody is not defined"),
        format!(
            "SEVERE {page}/missing - Failed to load resource: the server responded with a status of 404 (Not Found)"
        ),
        "SEVERE http://localhost/picture - Failed to load resource: net::ERR_NAME_NOT_RESOLVED".to_owned(),
    ];
    assert_eq!(console, expected);
    assert_eq!(browser.console().await, [""; 0]);
}

#[tokio::test]
async fn a_page_that_is_too_wide_is_seen() {
    let wide = format!(r#"{FITS}<div style="width: 1500px; height: 100px">"#);
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
async fn a_page_that_a_phone_would_shrink_is_seen() {
    let (_server, browser) = open("<p>small").await;
    assert_eq!(browser.overhang().await, 0);
    browser.show_on(Screen::PHONE).await;
    // Such pages are laid out on 980 pixels.
    assert_eq!(browser.overhang().await, 620);
}

#[tokio::test]
async fn a_page_is_told_what_its_user_prefers() {
    let (_server, browser) = open("<p>").await;
    let is_dark = "matchMedia('(prefers-color-scheme: dark)').matches";
    let is_still = "matchMedia('(prefers-reduced-motion: reduce)').matches";
    for (features, dark, still) in [
        (&[][..], false, false),
        (&[("prefers-color-scheme", "dark")], true, false),
        (&[("prefers-reduced-motion", "reduce")], false, true),
    ] {
        browser.prefer(features).await;
        assert_eq!(browser.value(is_dark).await, dark, "{features:?}");
        assert_eq!(browser.value(is_still).await, still, "{features:?}");
    }
}

#[tokio::test]
async fn keys_arrive_where_the_focus_is() {
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
async fn what_comes_later_is_waited_for() {
    let (_server, browser) = open("<script>var looks = 0</script>").await;
    browser.until("++looks == 3").await;
    assert_eq!(browser.value("looks").await, 3);
}

#[tokio::test]
async fn a_picture_shows_all_of_a_page() {
    let tall = format!(r#"{FITS}<div style="height: 1500px">"#);
    let (_server, browser) = open(&tall).await;
    for (screen, name) in [
        (Screen::PHONE, "tall-phone.png"),
        (Screen::TABLET, "tall-tablet.png"),
        (Screen::DESKTOP, "tall-desktop.png"),
    ] {
        let path = browser.picture("tall", screen).await;
        assert!(path.ends_with(name), "{path:?}");
        // The first part of such a file tells the size.
        let file = fs::read(path).unwrap();
        let number = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().unwrap());
        assert_eq!((number(16), number(20)), (screen.width, 1500));
        assert_eq!(browser.value("innerHeight").await, screen.height);
    }
}

/// How many processes were started with something of this folder.
fn processes(folder: &Path) -> usize {
    // Another one's name may begin like this one's.
    let folder = format!("{}/", folder.display());
    let processes = fs::read_dir("/proc").unwrap();
    // Whoever ends meanwhile is not there.
    let commands = processes.filter_map(|process| fs::read(process.unwrap().path().join("cmdline")).ok());
    commands
        .filter(|command| String::from_utf8_lossy(command).contains(&folder))
        .count()
}

#[tokio::test]
async fn a_browser_ends_with_its_owner_and_leaves_nothing() {
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
async fn a_covered_button_cannot_be_clicked_and_a_browser_ends_with_a_test_that_panics() {
    let (_server, browser) = open(
        r#"<button>press</button>
        <div style="position: fixed; inset: 0">cover</div>"#,
    )
    .await;
    let folder = browser.folder().to_owned();
    let test = tokio::spawn(async move { browser.click("button").await });
    let panic = test.await.unwrap_err().into_panic();
    let why = panic.downcast_ref::<String>().unwrap();
    assert!(why.contains("element click intercepted"), "{why}");
    assert_eq!(processes(&folder), 0);
    assert!(!folder.exists());
}
