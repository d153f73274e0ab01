//! Compiler errors for common mistakes, which should explain how to fix them.
//!
//! The mistakes are in `compile_errors/src/`, each with its expected errors. The compiler's own messages change between versions
//! of Rust, so they are compared for one version only. `OVERWRITE=1 cargo test -p tollgate-tests --test compiler compile_errors`
//! updates the expected errors.

use std::{collections::BTreeMap, env, fmt::Write as _, fs, path::PathBuf};

use serde_json::Value;
use support::project::{cargo, root};

/// Compiles all mistakes at once.
fn compile() -> String {
    let mut cargo = cargo("rustc");
    cargo.args([
        "--package",
        "tollgate-compile-errors",
        "--profile",
        "check",
        "--message-format",
        "json",
    ]);
    // Prints types in full instead of writing them to a file.
    cargo.args(["--", "--cfg", "mistakes", "--verbose"]);
    let output = cargo.output().unwrap();
    assert!(!output.status.success(), "the mistakes compile");
    String::from_utf8(output.stdout).unwrap()
}

/// The errors without the surrounding code, by file.
fn errors() -> BTreeMap<PathBuf, String> {
    let mut errors: BTreeMap<PathBuf, String> = BTreeMap::new();
    for line in compile().lines() {
        let message = &serde_json::from_str::<Value>(line).unwrap()["message"];
        let spans = message["spans"].as_array().into_iter().flatten();
        let Some(span) = spans.clone().find(|span| span["is_primary"] == true) else {
            continue;
        };
        let output = errors.entry(root().join(text(&span["file_name"]))).or_default();
        let code = text(&message["code"]["code"]);
        writeln!(
            output,
            "{}[{code}]: {}",
            text(&message["level"]),
            text(&message["message"])
        )
        .unwrap();
        for span in spans.filter(|span| !span["label"].is_null()) {
            let (line, code) = (&span["line_start"], text(&span["text"][0]["text"]).trim());
            writeln!(output, "  line {line}, {code}: {}", text(&span["label"])).unwrap();
        }
        for child in message["children"].as_array().unwrap() {
            writeln!(output, "  {}: {}", text(&child["level"]), text(&child["message"])).unwrap();
        }
    }
    errors
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[rustversion::attr(not(stable(1.95)), ignore = "the expected errors are those of Rust 1.95")]
#[test]
fn compile_errors_are_as_expected() {
    let errors = errors();
    let mistakes = fs::read_dir(root().join("tests/compile_errors/src")).unwrap();
    let mistakes = mistakes.map(|file| file.unwrap().path());
    let mistakes = mistakes.filter(|file| file.extension().is_some_and(|it| it == "rs") && !file.ends_with("lib.rs"));
    for mistake in mistakes {
        let output = errors
            .get(&mistake)
            .unwrap_or_else(|| panic!("{} compiles", mistake.display()));
        let expected = mistake.with_extension("stderr");
        if env::var_os("OVERWRITE").is_some() {
            fs::write(&expected, output).unwrap();
        }
        assert_eq!(
            *output,
            fs::read_to_string(&expected).unwrap_or_default(),
            "{}",
            mistake.display()
        );
    }
}
