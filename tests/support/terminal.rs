//! A pseudo-terminal for the programs under test.

use std::process::Command;

/// Runs a command line of the shell on a terminal, which has one stream for output and errors.
/// Ctrl-C reaches the whole process group. `exec` replaces the shell, which would end by the signal even if the program handles it.
pub fn on_a_terminal(command_line: &str) -> Command {
    let mut script = Command::new("script");
    script
        .args(["-qec", &format!("exec {command_line}"), "/dev/null"])
        .env("SHELL", "/bin/sh")
        .env("TERM", "xterm-256color")
        .env_remove("NO_COLOR");
    script
}
