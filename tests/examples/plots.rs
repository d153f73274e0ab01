//! The figures of the documentation: they are what the command draws.

use std::{collections::BTreeMap, fs, path::Path};

use crate::{example, support::folder::Folder};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &Path) -> BTreeMap<String, String> {
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap());
    let named = files.map(|file| (file.file_name().into_string().unwrap(), file.path()));
    named
        .map(|(name, path)| (name, fs::read_to_string(path).unwrap()))
        .collect()
}

#[test]
fn figures_are_what_the_command_draws() {
    let folder = Folder::new("plots");
    let output = example("plots").arg("--out").arg(folder.path()).output().unwrap();
    assert!(output.status.success());
    let told = String::from_utf8(output.stdout).unwrap();
    let (drawn, kept) = (files(folder.path()), files(&root().join("docs/img")));
    assert!(drawn.keys().eq(kept.keys()), "{drawn:?} {kept:?}");
    for (name, figure) in &drawn {
        assert!(told.contains(&folder.file(name)), "{name}: {told}");
        // Not by assert_eq!, which would print both.
        assert!(
            *figure == kept[name],
            "{name}: `cargo run --example plots` draws it anew"
        );
    }
}

#[test]
fn plots_says_what_is_wrong() {
    let readme = root().join("README.md");
    for (arguments, code, words) in [
        (
            &["--into", "x"][..],
            2,
            "there is no option --into: there are --out and --help",
        ),
        (&["--out"], 2, "--out needs a folder"),
        (&["--out", readme.to_str().unwrap()], 1, "README.md: "),
    ] {
        let output = example("plots").args(arguments).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{error}");
        assert!(error.contains(words), "{error}");
    }
    let help = example("plots").arg("--help").output().unwrap();
    assert!(help.status.success());
    assert!(String::from_utf8(help.stdout).unwrap().contains("--out DIR"));
}
