//! The plots in the documentation are up to date, and documents show all of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use support::{
    folder::Folder,
    project::{program, root},
};

fn files(folder: &Path) -> BTreeMap<String, String> {
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap());
    let named = files.map(|file| (file.file_name().into_string().unwrap(), file.path()));
    named
        .map(|(name, path)| (name, fs::read_to_string(path).unwrap()))
        .collect()
}

#[test]
fn plots_are_up_to_date() {
    let folder = Folder::new("plots");
    let output = program("plots").arg("--out").arg(folder.path()).output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let (drawn, kept) = (files(folder.path()), files(&root().join("docs/img")));
    assert_eq!(drawn.keys().collect::<Vec<_>>(), kept.keys().collect::<Vec<_>>());
    for (name, plot) in &drawn {
        assert!(text.contains(&folder.file(name)), "{name}: {text}");
        // Not by assert_eq!, which would print both.
        assert!(
            *plot == kept[name],
            "{name}: `cargo run -p tollgate-tools --bin plots` updates it"
        );
    }
}

/// All documents: Markdown files in these folders.
fn documents() -> Vec<PathBuf> {
    let folders = ["", "docs", "docs/adr", "examples", "lua", "benches"];
    let files = folders
        .iter()
        .flat_map(|folder| fs::read_dir(root().join(folder)).unwrap());
    let files = files.map(|file| file.unwrap().path());
    files
        .filter(|file| file.extension().is_some_and(|extension| extension == "md"))
        .collect()
}

/// The images of a document, by `![text](path)` or `src="path"`.
fn shown(document: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(document).unwrap();
    let images = text
        .split("![")
        .skip(1)
        .filter_map(|image| image.split_once("](")?.1.split(')').next());
    let sources = text
        .split("src=\"")
        .skip(1)
        .filter_map(|source| source.split('"').next());
    let addresses = images.chain(sources);
    addresses
        .map(|address| document.parent().unwrap().join(address))
        .collect()
}

#[test]
fn every_image_exists_and_every_plot_is_shown() {
    let mut all = BTreeSet::new();
    for document in documents() {
        for image in shown(&document) {
            let found = image.canonicalize();
            all.insert(found.unwrap_or_else(|error| panic!("{document:?} shows {image:?}: {error}")));
        }
    }
    let images = root().join("docs/img").canonicalize().unwrap();
    // Other images are not plots.
    all.retain(|image| image.starts_with(&images));
    let plots: BTreeSet<_> = files(&images).into_keys().map(|name| images.join(name)).collect();
    assert_eq!(all, plots);
}

#[test]
fn the_table_in_choosing_md_matches_the_plot() {
    let [plot, guide] =
        ["docs/img/over-admission.svg", "docs/choosing.md"].map(|file| fs::read_to_string(root().join(file)).unwrap());
    let texts = plot.split('>').filter_map(|text| text.split('<').next());
    let numbers = texts.filter_map(|text| text.split_once(", attacked "));
    let shown: Vec<_> = numbers.filter(|(_, attacked)| attacked.ends_with('%')).collect();
    let table = guide.split("| most in any window |").nth(1).unwrap().lines().skip(2);
    let table = table.take_while(|row| row.starts_with('|'));
    let text: Vec<_> = table
        .map(|row| row.split('|').map(str::trim).collect::<Vec<_>>())
        .map(|columns| (columns[2], columns[3]))
        .collect();
    assert_eq!(shown.len(), 8);
    assert_eq!(shown, text);
}

#[test]
fn plots_reports_usage_errors() {
    let readme = root().join("README.md");
    for (arguments, code, message) in [
        (&["--into", "x"][..], 2, "unexpected argument '--into' found"),
        (&["--out"], 2, "a value is required for '--out <DIR>'"),
        (
            &["--out=x", "--out", "y"],
            2,
            "the argument '--out <DIR>' cannot be used multiple times",
        ),
        (&["--out", readme.to_str().unwrap()], 1, "README.md: "),
    ] {
        let output = program("plots").args(arguments).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{error}");
        assert!(error.contains(message), "{error}");
    }
    let help = program("plots").arg("--help").output().unwrap();
    assert!(help.status.success());
    assert!(String::from_utf8(help.stdout).unwrap().contains("--out <DIR>"));
}
