//! Where the project's files are, and the programs that were built of it.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The folder of the workspace.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// An example: of the library, or a package of its own. It is run where its readers run it.
pub fn example(name: &str) -> Command {
    let package = root().join("examples").join(name).join("Cargo.toml");
    let mut example = match package.exists() {
        true => program(&format!("example-{}", name.replace('_', "-"))),
        false => piped(&built().join("examples").join(name)),
    };
    example.current_dir(root());
    example
}

/// A program of another package.
pub fn program(name: &str) -> Command {
    piped(&program_path(name))
}

/// A subcommand of the tool for operators.
pub fn tollgate(subcommand: &str) -> Command {
    let mut command = program("tollgate");
    command.arg(subcommand);
    command
}

pub fn program_path(name: &str) -> PathBuf {
    built().join(name)
}

/// It uses memory, unless it is given a Redis.
fn piped(program: &Path) -> Command {
    let shown = program.display();
    assert!(program.exists(), "no {shown}: CONTRIBUTING.md says how it is built");
    let mut command = Command::new(program);
    command
        .env_remove("REDIS_URL")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// What cargo has built beside the tests.
fn built() -> PathBuf {
    let test = env::current_exe().unwrap();
    test.parent().unwrap().parent().unwrap().to_owned()
}

/// For files that tests make, and for what scripts/test has fetched for them.
pub fn target() -> PathBuf {
    built().parent().unwrap().to_owned()
}
