//! Completions and man pages.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use super::{RULES, Run, folder_with};

#[test]
fn bash_completes_subcommands_options_and_values() {
    let folder = folder_with(RULES);
    let script = Run::in_a_pipe(folder.path(), &["completions", "bash"]).success();
    let complete = |words: &str, at: usize| {
        let last = words.split(' ').next_back().unwrap();
        let before = words.split(' ').rev().nth(1).unwrap();
        let input = format!(
            "{script}\nCOMP_WORDS=({words})\nCOMP_CWORD={at}\n_tollgate tollgate '{last}' '{before}'\necho \"${{COMPREPLY[@]}}\""
        );
        let mut bash = Command::new("bash");
        bash.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut bash = bash.spawn().unwrap();
        bash.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = bash.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    };
    assert_eq!(complete("tollgate ga", 1), "gateway");
    assert_eq!(complete("tollgate gateway --on-s", 2), "--on-store-failure");
    assert_eq!(complete("tollgate gateway --on-store-failure ", 3), "open closed local");
}

#[test]
fn other_shells_have_completions() {
    let folder = folder_with(RULES);
    for shell in ["zsh", "fish", "powershell", "elvish"] {
        let script = Run::in_a_pipe(folder.path(), &["completions", shell]).success();
        assert!(
            script.contains("on-store-failure") && script.contains("peek"),
            "{shell}"
        );
    }
}

#[test]
fn the_program_and_each_subcommand_have_a_man_page() {
    let folder = folder_with(RULES);
    let page = Run::in_a_pipe(folder.path(), &["man"]).success();
    assert!(page.contains(".TH tollgate 1 "), "{page}");
    for subcommand in ["gateway", "service", "simulate", "playground", "check", "peek", "reset"] {
        assert!(page.contains(&format!("tollgate\\-{subcommand}(1)")), "{subcommand}");
        let page = Run::in_a_pipe(folder.path(), &["man", subcommand]).success();
        let title = format!(".TH tollgate-{subcommand} 1  \"tollgate ");
        assert!(page.contains(&title), "{page}");
        assert!(page.contains(".SH OPTIONS") && page.contains("quiet"), "{page}");
    }
}
