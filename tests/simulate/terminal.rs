//! The progress bar on a terminal.

use support::terminal;

use super::{Case, Run, long};

/// Runs a case with a terminal as standard error, and returns what was drawn there.
fn on_a_terminal(case: &Case, redirected: &str) -> String {
    let command = case.command();
    let command: Vec<_> = [command.get_program()].into_iter().chain(command.get_args()).collect();
    let command: Vec<_> = command.iter().map(|argument| argument.to_str().unwrap()).collect();
    let mut script = terminal::on_a_terminal(&format!("{} {redirected}", command.join(" ")));
    script.current_dir(case.folder.path());
    Run::of(script).success()
}

fn bars(drawn: &str) -> usize {
    drawn.matches(" to go").count()
}

#[test]
fn a_long_log_has_a_progress_bar_on_a_terminal_only() {
    let case = Case::log(&long::rules(), long::log(200_000));
    let drawn = on_a_terminal(&case, "> report");
    assert!(
        bars(&drawn) > 1 && drawn.contains(" lines, ") && drawn.contains(" %"),
        "{drawn}"
    );
    assert!(drawn.contains("200,000 lines in "), "{drawn}");
    let plain = case.run(&[]);
    let report = std::fs::read_to_string(case.folder.file("report")).unwrap();
    assert_eq!(report, plain.output);
    assert_eq!(
        (bars(&plain.errors), plain.errors.lines().count()),
        (0, 1),
        "{}",
        plain.errors
    );
}

#[test]
fn a_trace_has_a_progress_bar_unless_its_answers_go_to_the_terminal() {
    let line = "{\"at_us\":1700000000000000,\"ip\":\"203.0.113.7\"}\n";
    let case = Case::trace(&super::two_per_minute(), line.repeat(200_000));
    let drawn = on_a_terminal(&case, "> answers");
    assert!(bars(&drawn) > 1 && !drawn.contains("admitted"), "{drawn}");
    let drawn = on_a_terminal(&case, "| head -1");
    assert!(drawn.contains("\"admitted\":true"), "{drawn}");
    assert_eq!(bars(&on_a_terminal(&case, "")), 0);
}
