//! Every example is in the README, opens with its run command, and is tested at the URLs in its opening comment.

use std::{collections::BTreeSet, fs, path::PathBuf};

use support::project::root;

/// The arguments of `cargo run` for an example.
fn run(name: &str) -> String {
    let package = root().join("examples").join(name).join("Cargo.toml");
    match package.exists() {
        true => format!("-p example-{}", name.replace('_', "-")),
        false => format!("--example {name}"),
    }
}

/// The examples by name, with their opening comments.
fn examples() -> Vec<(String, String)> {
    let entries = fs::read_dir(root().join("examples")).unwrap();
    let entries = entries.map(|entry| entry.unwrap().path());
    let examples = entries.filter_map(|path| {
        let main = match path.is_dir() {
            true if path.join("src").exists() => path.join("src/main.rs"),
            true => path.join("main.rs"),
            false if path.extension().is_some_and(|extension| extension == "rs") => path.clone(),
            false => return None,
        };
        let text = fs::read_to_string(main).unwrap();
        let opening = text.lines().take_while(|line| line.starts_with("//!"));
        let name = path.file_stem()?.to_str()?.to_owned();
        Some((name, opening.collect::<Vec<_>>().join("\n")))
    });
    examples.collect()
}

/// The names or paths that follow a prefix in a text.
fn after<'a>(prefix: &str, text: &'a str) -> BTreeSet<&'a str> {
    let names = text.split(prefix).skip(1).map(|rest| {
        let end = rest.find(|char: char| !(char.is_alphanumeric() || "_-/.".contains(char)));
        &rest[..end.unwrap_or(rest.len())]
    });
    names.collect()
}

/// The sources of all tests in a folder, recursively.
fn tests(folder: PathBuf) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let texts = entries.flat_map(|path| match path.is_dir() {
        true => tests(path),
        false if path.extension().is_some_and(|extension| extension == "rs") => vec![fs::read_to_string(path).unwrap()],
        false => Vec::new(),
    });
    texts.collect()
}

#[test]
fn every_example_is_listed_and_opens_with_its_run_command() {
    let readme = fs::read_to_string(root().join("examples/README.md")).unwrap();
    let examples = examples();
    for (name, opening) in &examples {
        let run = format!("cargo run {}", run(name));
        assert!(opening.contains(&run), "{name}: {opening}");
    }
    let runs: BTreeSet<_> = examples.iter().map(|(name, _)| run(name)).collect();
    let listed = readme
        .split("| `cargo run ")
        .skip(1)
        .filter_map(|rest| rest.split('`').next());
    let listed = listed.map(|listed| listed.split(" --").next().unwrap().to_owned());
    assert_eq!(listed.collect::<BTreeSet<_>>(), runs);
}

#[test]
fn every_example_is_tested_at_every_url_in_its_opening_comment() {
    let tests = tests(root().join("tests"));
    for (name, opening) in examples() {
        let runs = [format!("(\"{name}\")"), format!("\"{name}\",")];
        let its_tests = tests.iter().filter(|test| runs.iter().any(|run| test.contains(run)));
        let its_tests: Vec<_> = its_tests.collect();
        assert!(!its_tests.is_empty(), "no test runs the example {name}");
        for path in after("http://127.0.0.1:3000", &opening) {
            let quoted = format!("\"{path}\"");
            let is_requested = its_tests.iter().any(|test| test.contains(&quoted));
            assert!(is_requested, "no test requests {path} of the example {name}");
        }
    }
}
