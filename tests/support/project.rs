//! Paths of the workspace and of the programs built from it.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The folder of the workspace.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// An example, of the library or a separate package, run from the workspace root as its documentation shows.
pub fn example(name: &str) -> Command {
    let package = root().join("examples").join(name).join("Cargo.toml");
    let mut example = match package.exists() {
        true => program(&format!("example-{}", name.replace('_', "-"))),
        false => piped(&built().join("examples").join(name)),
    };
    example.current_dir(root());
    example
}

/// A binary of another package.
pub fn program(name: &str) -> Command {
    piped(&program_path(name))
}

/// A subcommand of the command-line tool.
pub fn tollgate(subcommand: &str) -> Command {
    let mut command = program("tollgate");
    command.arg(subcommand);
    command
}

pub fn program_path(name: &str) -> PathBuf {
    built().join(name)
}

/// A command with piped output and without the variables that name a Redis, so that it uses the memory store by default.
fn piped(program: &Path) -> Command {
    let shown = program.display();
    assert!(program.exists(), "no {shown}: see CONTRIBUTING.md for how to build it");
    let mut command = Command::new(program);
    command
        .env_remove("REDIS_URL")
        .env_remove("TOLLGATE_STORE")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// The folder of the binaries that cargo built with the tests.
fn built() -> PathBuf {
    let test = env::current_exe().unwrap();
    test.parent().unwrap().parent().unwrap().to_owned()
}

/// The target folder, for files that tests create and for downloads of scripts/test.
pub fn target() -> PathBuf {
    built().parent().unwrap().to_owned()
}
