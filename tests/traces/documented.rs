//! The lists in docs/observability.md, compared with the code.

use std::{collections::BTreeSet, fs, path::Path};

use tollgate::{Key, Limiter, MemoryStore, Quota};

use support::{
    doc_tables::{code_spans, observability_table},
    project::root,
};

use crate::spans::{listen, of};

#[tokio::test]
async fn the_fields_of_a_span_are_documented() {
    listen();
    let limiter = Limiter::token_bucket("fields", Quota::per_second(1), MemoryStore::new());
    let Ok(_) = limiter.check(&Key::GLOBAL).await;
    let documented: Vec<_> = observability_table("| field | |")
        .iter()
        .flat_map(|row| code_spans(&row[0]))
        .collect();
    assert_eq!(of("fields")[0].declared, documented);
}

/// A log event: its message, level and target.
type LogEvent = (String, String, String);

/// Every event names its target, so that a renamed file changes no log filter. Other tests check that each is logged when it should
/// be.
#[test]
fn log_events_have_explicit_targets_and_are_documented() {
    let mut logged = BTreeSet::new();
    collect_log_events(&root().join("src"), &mut logged);
    assert_eq!(logged, documented("| message | level | target |"));
    let mut logged_by_tool = BTreeSet::new();
    collect_log_events(&root().join("cli/src"), &mut logged_by_tool);
    // Events of other subcommands explain them with `--verbose`.
    logged_by_tool.retain(|(_, _, target)| target != "tollgate::cli");
    assert_eq!(logged_by_tool, documented("| message of a server | level | target |"));
}

/// The events in the table with this header row.
fn documented(head: &str) -> BTreeSet<LogEvent> {
    let cell = |cell: &str| code_spans(cell).remove(0);
    let rows = observability_table(head).into_iter();
    rows.map(|row| (cell(&row[0]), row[1].clone(), cell(&row[2]))).collect()
}

fn collect_log_events(folder: &Path, events: &mut BTreeSet<LogEvent>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            collect_log_events(&entry, events);
            continue;
        }
        let code = fs::read_to_string(&entry).unwrap();
        for call in code.split("tracing::").skip(1) {
            let (level, arguments) = call.split_once("!(").unwrap_or_default();
            if ["trace", "debug", "info", "warn", "error"].contains(&level) {
                let arguments = arguments.trim_start().strip_prefix("target: \"");
                let arguments = arguments.unwrap_or_else(|| panic!("{}: an event without a target", entry.display()));
                // The message is the only other string literal in the call.
                let mut literals = arguments.split('"').step_by(2);
                let (target, message) = (literals.next().unwrap(), literals.next().unwrap());
                events.insert((message.to_owned(), level.to_uppercase(), target.to_owned()));
            }
        }
    }
}
