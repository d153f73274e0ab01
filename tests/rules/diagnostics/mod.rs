//! The diagnostics of invalid files: every field, in every way that it can be invalid.

mod costs;
mod descriptors;
mod exempt;
mod files;
mod keys;
mod outcomes;
mod paths;
mod plans;
mod settings;
mod text;
mod times;
mod trust;

use tollgate::RuleSet;

/// A valid limit.
const LIMIT: &str = r#"[[limit]]
name = "api"
algorithm = "token_bucket"
limit = 10
window = "1m"
key = "global"
"#;

/// The diagnostics of a file, as `line:column message`.
fn diagnostics_of(file: &str) -> Vec<String> {
    let Err(error) = RuleSet::parse(file) else {
        return vec!["nothing".into()];
    };
    let reported = error.diagnostics().iter();
    reported
        .map(|diagnostic| format!("{}:{} {}", diagnostic.line(), diagnostic.column(), diagnostic.message()))
        .collect()
}

/// Tests a table of cases, separated by blank lines: indented lines are the diagnostics of the lines before them.
fn assert_diagnostics(table: &str, file: impl Fn(&str) -> String) {
    for case in table.trim().split("\n\n") {
        let (reported, written): (Vec<_>, Vec<_>) = case.lines().partition(|line| line.starts_with("    "));
        let file = file(&written.join("\n"));
        let reported: Vec<_> = reported.iter().map(|line| line.trim_start()).collect();
        assert_eq!(diagnostics_of(&file), reported, "{file}");
    }
}

/// A file of one limit, in which each of these lines replaces the line of the same field, or is appended.
fn limit(lines: &str) -> String {
    let field = |line: &str| line.split(" = ").next().unwrap_or_default().to_owned();
    let mut file: Vec<&str> = LIMIT.lines().collect();
    for line in lines.lines() {
        match file.iter_mut().find(|before| field(before) == field(line)) {
            Some(before) => *before = line,
            None => file.push(line),
        }
    }
    file.join("\n")
}
