//! The keys of every extractor, and the errors for requests without a key.

mod api_key;
mod client_ip;
mod closure;
mod cookie;
mod extension;
mod header;
mod identities;
mod invalid;
mod or;
mod query;
#[cfg(feature = "axum")]
mod route;
mod tuple;

use std::{
    io::Write,
    process::{Command, Stdio},
};

use http::Request;
use tollgate::{Global, HttpMethod, Key, KeyExtractor};

/// Where proptest stores inputs that failed.
const FAILURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/keys/regressions.txt");

fn request(headers: &[(&str, &str)]) -> Request<()> {
    let builder = Request::builder();
    let builder = headers
        .iter()
        .fold(builder, |all, (name, value)| all.header(*name, *value));
    builder.body(()).unwrap()
}

fn with_extension(value: impl Clone + Send + Sync + 'static) -> Request<()> {
    Request::builder().extension(value).body(()).unwrap()
}

/// The text of the request's key.
#[track_caller]
fn key<Req>(extractor: &impl KeyExtractor<Req>, request: &Req) -> String {
    extractor.extract(request).unwrap().to_string()
}

/// The message of the key error.
#[track_caller]
fn error<Req>(extractor: &impl KeyExtractor<Req>, request: &Req) -> String {
    extractor.extract(request).unwrap_err().to_string()
}

/// The output of a command with this standard input.
fn shell(command: &str, stdin: &[u8]) -> String {
    let mut shell = Command::new("sh");
    let shell = shell.args(["-c", command]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut shell = shell.spawn().unwrap();
    shell.stdin.take().unwrap().write_all(stdin).unwrap();
    let printed = shell.wait_with_output().unwrap().stdout;
    str::from_utf8(&printed).unwrap().trim_end().into()
}

/// The digest of a value, by another implementation.
fn digest(value: impl AsRef<[u8]>) -> String {
    let digest = shell("sha256sum | cut -c1-32", value.as_ref());
    assert_eq!(digest.len(), 32);
    digest
}

#[test]
fn global_is_one_key_for_all_requests() {
    let different = [request(&[]), request(&[("x-user-id", "1")]), with_extension(2)];
    for request in &different {
        assert_eq!(key(&Global, request), "global");
    }
    assert_eq!(Key::GLOBAL, Key::new("global"));
}

fn by_method(method: &str) -> String {
    key(&HttpMethod, &Request::builder().method(method).body(()).unwrap())
}

#[test]
fn a_standard_method_is_counted_by_its_name() {
    let defined = [
        "GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "CONNECT", "PATCH", "TRACE", "QUERY",
    ];
    for method in defined {
        assert_eq!(by_method(method), format!("method:{method}"));
    }
}

#[test]
fn nonstandard_methods_share_one_key() {
    let long = "A".repeat(1000);
    for method in ["get", "Get", "GETS", "BREW", "other", "OTHER", "!#$%&'*+-.^_`|~", &long] {
        assert_eq!(by_method(method), "method:other");
    }
}

#[test]
fn a_named_key_keeps_safe_text_and_digests_the_rest() {
    let safe = "AZaz09-_.~@+=,|/";
    assert_eq!(Key::named("user", 12345).as_str(), "user:12345");
    assert_eq!(Key::named("user", safe).as_str(), format!("user:{safe}"));
    assert_eq!(Key::named(safe, "").as_str(), format!("{safe}:"));
    for value in [
        "\0", "a\0", "a:b", "(a)", "#a", "{a}", "[a]", "a b", "a\n", "a%", "<a>", "\u{e9}", "\u{7f}",
    ] {
        assert_eq!(Key::named("user", value).as_str(), format!("user:#{}", digest(value)));
        assert_eq!(Key::named(value, "user").as_str(), format!("#{}:user", digest(value)));
    }
}

#[test]
fn a_key_from_a_whole_text_can_contain_colons() {
    for text in ["", ":", "user:12345", "a:b:c", ":~", "AZaz09-_.~@+=,|/"] {
        assert_eq!(Key::new(text).as_str(), text);
    }
    let long = ["a".repeat(64), "a".repeat(65)];
    assert_eq!(Key::new(long[0].clone()).as_str(), long[0]);
    for text in [
        "\0",
        "a b",
        "(a:b)",
        "{a}",
        "ip:[::1]",
        "#900150983cd24fb0d6963f7d28e17f72",
        &long[1],
    ] {
        assert_eq!(Key::new(text.to_owned()).as_str(), format!("#{}", digest(text)));
    }
}

#[test]
fn a_key_from_a_whole_text_is_never_a_default_key() {
    for text in ["~", "~anonymous", "~a:b"] {
        assert_eq!(Key::new(text).as_str(), format!("#{}", digest(text)));
    }
}

#[test]
fn a_verbatim_key_is_unchanged() {
    for text in ["", "a b", "{a}", "\0"] {
        assert_eq!(Key::verbatim(text).as_str(), text);
    }
}
