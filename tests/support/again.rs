//! A test that runs itself once more, in a process of its own.

use std::process::{Command, Stdio};

/// The path of a test beside this, by which its program can be asked to run it alone.
#[macro_export]
macro_rules! test_path {
    ($test:literal) => {
        concat!(module_path!(), "::", $test)
    };
}

/// Tells a process that it is such a one, and what it needs to know.
const TOLD: &str = "TOLLGATE_TEST_AGAIN";

/// What this process was told by the one that has started it, unless this is the first.
pub fn told() -> Option<String> {
    std::env::var(TOLD).ok()
}

/// This test once more, which is told that. What it is to print stands on lines of its own.
pub fn again(test: &str, told: &str) -> Command {
    started_by(&[], test, told)
}

/// Does this where no other test runs.
pub fn alone(test: &str, body: impl FnOnce()) {
    match told() {
        Some(_) => body(),
        None => passes(again(test, "")),
    }
}

/// This test once more, by one who is kept from files by their modes. Root is not, and this takes that from him.
pub fn kept_from_files(test: &str) {
    assert_eq!(told(), None, "he still is not");
    let modes_count = "--bounding-set=-dac_override,-dac_read_search";
    passes(started_by(&["setpriv", modes_count], test, ""));
}

fn started_by(words: &[&str], test: &str, told: &str) -> Command {
    let this = std::env::current_exe().unwrap().display().to_string();
    // The program does not have its own name in the paths of its tests.
    let (_, test) = test.split_once("::").unwrap();
    let mut words = words.iter().copied().chain([&*this, "--exact", test, "--nocapture"]);
    let mut command = Command::new(words.next().unwrap());
    command.args(words).env(TOLD, told);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// A test of that name, and no other, has passed.
fn passes(mut command: Command) {
    let output = command.output().unwrap();
    let [said, errors] = [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    let has_passed = output.status.success() && said.contains(" 1 passed;");
    assert!(has_passed, "{command:?}:\n{said}\n{errors}");
}
