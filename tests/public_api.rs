//! The public API, as `docs/api.txt` lists it: a change of the API is a change of that file, which reviewers see.
//!
//! rustdoc's JSON changes between versions of Rust, so the listing is compared for one version only. `OVERWRITE=1 cargo test -p
//! tollgate-tests --test compiler public_api` updates the file.

use std::{env, fs, path::PathBuf};

use public_api::Builder;
use support::project::{cargo, root, target};

fn rustdoc_json() -> PathBuf {
    let mut cargo = cargo("rustdoc");
    cargo.args(["--package", "tollgate", "--lib", "--all-features"]);
    cargo.args(["--", "-Z", "unstable-options", "--output-format", "json"]);
    cargo.env("RUSTDOC", root().join("scripts/rustdoc-json"));
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    target().join("doc/tollgate.json")
}

#[rustversion::attr(not(stable(1.95)), ignore = "the listing is that of Rust 1.95")]
#[test]
fn public_api_is_as_listed() {
    let api = Builder::from_rustdoc_json(rustdoc_json())
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()
        .unwrap();
    let (listing, file) = (api.to_string(), root().join("docs/api.txt"));
    if env::var_os("OVERWRITE").is_some() {
        fs::write(&file, &listing).unwrap();
    }
    let expected = fs::read_to_string(file).unwrap();
    let missing: Vec<_> = expected
        .lines()
        .filter(|line| !listing.lines().any(|it| it == *line))
        .collect();
    let new: Vec<_> = listing
        .lines()
        .filter(|line| !expected.lines().any(|it| it == *line))
        .collect();
    assert!(
        listing == expected,
        "the public API differs from docs/api.txt\nno longer in it: {missing:#?}\nnew: {new:#?}"
    );
}
