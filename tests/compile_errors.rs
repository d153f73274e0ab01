//! What the compiler says when something is passed that will not do: words that help.
//!
//! The mistakes are in `compile_errors/src/`, each with what is said to it. The words around ours change from one version of Rust
//! to the next, so they are compared with one version only; `OVERWRITE=1 cargo test -p tollgate-tests --test core compile_errors`
//! writes them anew.

use std::{collections::BTreeMap, env, fmt::Write as _, fs, path::PathBuf, process::Command};

use serde_json::Value;
use support::project::{root, target};

/// All of them at once, in a build that shares what it depends on with others.
fn compile() -> String {
    let mut cargo = Command::new(env::var_os("CARGO").expect("cargo runs the tests"));
    cargo.args([
        "rustc",
        "--quiet",
        "--package",
        "tollgate-compile-errors",
        "--profile",
        "check",
    ]);
    cargo
        .args(["--message-format", "json", "--offline", "--target-dir"])
        .arg(target());
    // Types are told whole, and not written to a file.
    cargo.args(["--", "--cfg", "mistakes", "--verbose"]);
    let output = cargo.current_dir(root()).output().unwrap();
    assert!(!output.status.success(), "the mistakes compile");
    String::from_utf8(output.stdout).unwrap()
}

/// What is said, in a form without the code around it, by the file that it is said of.
fn errors() -> BTreeMap<PathBuf, String> {
    let mut errors: BTreeMap<PathBuf, String> = BTreeMap::new();
    for line in compile().lines() {
        let message = &serde_json::from_str::<Value>(line).unwrap()["message"];
        let spans = message["spans"].as_array().into_iter().flatten();
        let Some(span) = spans.clone().find(|span| span["is_primary"] == true) else {
            continue;
        };
        let said = errors.entry(root().join(text(&span["file_name"]))).or_default();
        let code = text(&message["code"]["code"]);
        writeln!(
            said,
            "{}[{code}]: {}",
            text(&message["level"]),
            text(&message["message"])
        )
        .unwrap();
        for span in spans.filter(|span| !span["label"].is_null()) {
            let (line, code) = (&span["line_start"], text(&span["text"][0]["text"]).trim());
            writeln!(said, "  line {line}, {code}: {}", text(&span["label"])).unwrap();
        }
        for child in message["children"].as_array().unwrap() {
            writeln!(said, "  {}: {}", text(&child["level"]), text(&child["message"])).unwrap();
        }
    }
    errors
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[rustversion::attr(not(stable(1.95)), ignore = "the words are those of Rust 1.95")]
#[test]
fn compile_errors_help() {
    let errors = errors();
    let mistakes = fs::read_dir(root().join("tests/compile_errors/src")).unwrap();
    let mistakes = mistakes.map(|file| file.unwrap().path());
    let mistakes = mistakes.filter(|file| file.extension().is_some_and(|it| it == "rs") && !file.ends_with("lib.rs"));
    for mistake in mistakes {
        let said = errors
            .get(&mistake)
            .unwrap_or_else(|| panic!("{} compiles", mistake.display()));
        let expected = mistake.with_extension("stderr");
        if env::var_os("OVERWRITE").is_some() {
            fs::write(&expected, said).unwrap();
        }
        assert_eq!(
            *said,
            fs::read_to_string(&expected).unwrap_or_default(),
            "{}",
            mistake.display()
        );
    }
}
