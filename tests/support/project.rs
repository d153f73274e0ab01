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

/// A command of cargo with the target directory of the workspace, so that dependencies are not built again. It lacks the variables of
/// the package under test, on which build scripts depend: cargo would rebuild ring and all that use it, here and in the next build.
pub fn cargo(subcommand: &str) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").expect("cargo runs the tests"));
    cargo
        .args([subcommand, "--quiet", "--offline", "--target-dir"])
        .arg(target());
    for (name, _) in env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG_") || name.to_string_lossy().starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(name);
        }
    }
    cargo.current_dir(root());
    cargo
}

/// The target folder, for files that tests create and for downloads of scripts/test.
pub fn target() -> PathBuf {
    built().parent().unwrap().to_owned()
}
