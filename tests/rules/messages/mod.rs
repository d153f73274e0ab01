//! What an operator is told of a file that is wrong: every field, in every way that it can be.

mod costs;
mod exempt;
mod files;
mod keys;
mod paths;
mod plans;
mod settings;
mod text;
mod times;
mod trust;

use tollgate::RuleSet;

/// A limit with which nothing is wrong.
const LIMIT: &str = r#"[[limit]]
name = "api"
algorithm = "token_bucket"
limit = 10
window = "1m"
key = "global"
"#;

/// All that is wrong with a file, as `line:column message`.
fn problems(file: &str) -> Vec<String> {
    let Err(error) = RuleSet::parse(file) else {
        return vec!["nothing".into()];
    };
    let told = error.problems().iter();
    told.map(|problem| format!("{}:{} {}", problem.line(), problem.column(), problem.message()))
        .collect()
}

/// Tries a table. A blank line parts its cases: what is indented is all that is told of what stands before it.
fn tried(table: &str, file: impl Fn(&str) -> String) {
    for case in table.trim().split("\n\n") {
        let (told, written): (Vec<_>, Vec<_>) = case.lines().partition(|line| line.starts_with("    "));
        let file = file(&written.join("\n"));
        let told: Vec<_> = told.iter().map(|line| line.trim_start()).collect();
        assert_eq!(problems(&file), told, "{file}");
    }
}

/// A file of one limit, in which these lines stand in the place of those about the same fields, or after all others.
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
