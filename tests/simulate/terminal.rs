//! Progress, for whoever watches.

use support::terminal;

use super::{Case, Run, long};

/// Runs a command of the shell with a terminal for its standard error, and returns what was drawn there.
fn on_a_terminal(case: &Case, redirected: &str) -> String {
    let words = case.command();
    let words: Vec<_> = [words.get_program()].into_iter().chain(words.get_args()).collect();
    let words: Vec<_> = words.iter().map(|word| word.to_str().unwrap()).collect();
    let mut script = terminal::on_a_terminal(&format!("{} {redirected}", words.join(" ")));
    script.current_dir(case.folder.path());
    Run::of(script).done()
}

fn bars(drawn: &str) -> usize {
    drawn.matches(" to go").count()
}

#[test]
fn a_long_log_has_a_bar_on_a_terminal_and_nowhere_else() {
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
fn a_trace_has_a_bar_where_its_answers_go_elsewhere() {
    let line = "{\"at_us\":1700000000000000,\"ip\":\"203.0.113.7\"}\n";
    let case = Case::trace(&super::two_a_minute(), line.repeat(200_000));
    let drawn = on_a_terminal(&case, "> answers");
    assert!(bars(&drawn) > 1 && !drawn.contains("admitted"), "{drawn}");
    let drawn = on_a_terminal(&case, "| head -1");
    assert!(drawn.contains("\"admitted\":true"), "{drawn}");
    assert_eq!(bars(&on_a_terminal(&case, "")), 0);
}
