//! The lists in docs/observability.md, held against what the code says.

use std::{collections::BTreeSet, fs, path::Path};

use tollgate::{Key, Limiter, MemoryStore, Quota, TokenBucket};

use support::{
    documented::{code, observability},
    project::root,
};

use crate::spans::{listen, of};

#[tokio::test]
async fn the_fields_of_a_span_are_those_that_are_documented() {
    listen();
    let limiter = Limiter::new("fields", TokenBucket::new(Quota::per_second(1)), MemoryStore::new());
    let Ok(_) = limiter.check(&Key::GLOBAL).await;
    let documented: Vec<_> = observability("| field | |")
        .iter()
        .flat_map(|row| code(&row[0]))
        .collect();
    assert_eq!(of("fields")[0].declared, documented);
}

/// A line that is logged: what it says, how loudly, and where.
type Line = (String, String, String);

/// Whether each of them is logged when it should be is tried where that happens.
#[test]
fn the_lines_in_the_code_are_those_that_are_documented() {
    let cell = |cell: &str| code(cell).remove(0);
    let rows = observability("| line | level | target |").into_iter();
    let documented: BTreeSet<Line> = rows.map(|row| (cell(&row[0]), row[1].clone(), cell(&row[2]))).collect();
    let mut logged = BTreeSet::new();
    lines_below(&root().join("src"), "tollgate", &mut logged);
    assert_eq!(logged, documented);
}

fn lines_below(folder: &Path, module: &str, lines: &mut BTreeSet<Line>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.file_stem().unwrap().to_str().unwrap();
        let module = match name {
            "mod" | "lib" => module.to_owned(),
            name => format!("{module}::{name}"),
        };
        if entry.is_dir() {
            lines_below(&entry, &module, lines);
            continue;
        }
        let code = fs::read_to_string(&entry).unwrap();
        for call in code.split("tracing::").skip(1) {
            let (level, rest) = call.split_once("!(").unwrap_or_default();
            if ["debug", "info", "warn", "error"].contains(&level) {
                // What it says is the only text in the call.
                let message = rest.split('"').nth(1).unwrap();
                lines.insert((message.to_owned(), level.to_uppercase(), module.clone()));
            }
        }
    }
}
