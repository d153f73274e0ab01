//! Runs a test again in a child process.

use std::process::{Command, Stdio};

/// The full path of a test in the calling module, as `--exact` takes it.
#[macro_export]
macro_rules! test_path {
    ($test:literal) => {
        concat!(module_path!(), "::", $test)
    };
}

/// The environment variable that marks a child process and carries its argument.
const ARGUMENT_VARIABLE: &str = "TOLLGATE_TEST_CHILD";

/// The argument that the parent passed, or none in the parent.
pub fn argument() -> Option<String> {
    std::env::var(ARGUMENT_VARIABLE).ok()
}

/// A command that runs the test in a child process with this argument. The test harness prints on the same stdout, so the
/// child has to begin its output on a new line.
pub fn rerun(test: &str, argument: &str) -> Command {
    wrapped(&[], test, argument)
}

/// Runs the body in a child process, where no other test runs.
pub fn in_own_process(test: &str, body: impl FnOnce()) {
    match argument() {
        Some(_) => body(),
        None => assert_passes(rerun(test, "")),
    }
}

/// Runs the test in a child process that file modes apply to even if the user is root: without `CAP_DAC_OVERRIDE` and
/// `CAP_DAC_READ_SEARCH`.
pub fn rerun_without_root_access(test: &str) {
    assert_eq!(argument(), None, "file modes do not apply in the child process");
    let drop_capabilities = "--bounding-set=-dac_override,-dac_read_search";
    assert_passes(wrapped(&["setpriv", drop_capabilities], test, ""));
}

fn wrapped(wrapper: &[&str], test: &str, argument: &str) -> Command {
    let executable = std::env::current_exe().unwrap().display().to_string();
    // `module_path!` begins with the crate's name, which the test harness leaves out.
    let (_, test) = test.split_once("::").unwrap();
    let mut arguments = wrapper
        .iter()
        .copied()
        .chain([&*executable, "--exact", test, "--nocapture"]);
    let mut command = Command::new(arguments.next().unwrap());
    command.args(arguments).env(ARGUMENT_VARIABLE, argument);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// Exactly one test ran, and it passed.
fn assert_passes(mut command: Command) {
    let output = command.output().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let has_passed = output.status.success() && stdout.contains(" 1 passed;");
    assert!(has_passed, "{command:?}:\n{stdout}\n{stderr}");
}
