//! A client as a process.

use std::{path::PathBuf, process::Command};

use support::project::{root, target};

/// Runs a script of `clients/` and returns its output lines.
pub(crate) async fn run(script: &str, arguments: &[String]) -> Vec<String> {
    let mut client = match script.ends_with(".py") {
        true => python(script),
        false => node(script),
    };
    client.args(arguments);
    // Not on this thread, on which the server runs.
    let output = tokio::task::spawn_blocking(move || client.output()).await.unwrap();
    let output = output.unwrap_or_else(|error| panic!("{script}: {error}: scripts/test installs node and python3"));
    let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(output.status.success(), "{script}: {stderr}");
    stdout.lines().map(str::to_owned).collect()
}

/// With `--eval`, Node.js resolves imports from the working directory.
fn node(script: &str) -> Command {
    let mut node = Command::new("node");
    node.current_dir(installed("node_modules").parent().unwrap()).args([
        "--input-type=module",
        "--eval",
        &text(script),
        "--",
    ]);
    node
}

fn python(script: &str) -> Command {
    let mut python = Command::new("python3");
    python
        .env("PYTHONPATH", installed("python"))
        .args(["-c", &text(script)]);
    python
}

fn text(script: &str) -> String {
    let clients = root().join("tests/interop/clients");
    std::fs::read_to_string(clients.join(script)).unwrap()
}

/// The folder in the target directory where scripts/test installs what the scripts import.
fn installed(folder: &str) -> PathBuf {
    let folder = target().join("interop").join(folder);
    assert!(
        folder.exists(),
        "no clients at {}: run scripts/test, which installs what tests/interop/clients names",
        folder.display()
    );
    folder
}
