//! Every example is told of, opens with how to run it, and is asked here for what it says there.

use std::{collections::BTreeSet, fs, path::PathBuf};

use support::project::root;

/// What follows `cargo run` for an example.
fn run(name: &str) -> String {
    let package = root().join("examples").join(name).join("Cargo.toml");
    match package.exists() {
        true => format!("-p example-{}", name.replace('_', "-")),
        false => format!("--example {name}"),
    }
}

/// The examples by name, each with the comment that it opens with.
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

/// What follows these words in a text, as long as it is part of a name or a path.
fn after<'a>(words: &str, text: &'a str) -> BTreeSet<&'a str> {
    let names = text.split(words).skip(1).map(|rest| {
        let end = rest.find(|char: char| !(char.is_alphanumeric() || "_-/.".contains(char)));
        &rest[..end.unwrap_or(rest.len())]
    });
    names.collect()
}

/// The texts of all tests in a folder and below.
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
fn every_example_is_told_of_and_opens_with_how_to_run_it() {
    let readme = fs::read_to_string(root().join("examples/README.md")).unwrap();
    let examples = examples();
    for (name, opening) in &examples {
        let run = format!("cargo run {}", run(name));
        assert!(opening.contains(&run), "{name}: {opening}");
    }
    let runs: BTreeSet<_> = examples.iter().map(|(name, _)| run(name)).collect();
    let told = readme
        .split("| `cargo run ")
        .skip(1)
        .filter_map(|rest| rest.split('`').next());
    let told = told.map(|told| told.split(" --features").next().unwrap().to_owned());
    assert_eq!(told.collect::<BTreeSet<_>>(), runs);
}

#[test]
fn every_example_is_run_and_asked_at_every_address_that_it_opens_with() {
    let tests = tests(root().join("tests"));
    for (name, opening) in examples() {
        let runs = [format!("(\"{name}\")"), format!("\"{name}\",")];
        let of_it = tests.iter().filter(|test| runs.iter().any(|run| test.contains(run)));
        let of_it: Vec<_> = of_it.collect();
        assert!(!of_it.is_empty(), "no test runs the example {name}");
        for path in after("http://127.0.0.1:3000", &opening) {
            let asked = format!("\"{path}\"");
            let is_asked = of_it.iter().any(|test| test.contains(&asked));
            assert!(is_asked, "no test asks the example {name} for {path}");
        }
    }
}
