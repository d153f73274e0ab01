//! The other programs of this package, which are built beside this one.

use std::{env, path::PathBuf};

pub fn sibling(name: &str) -> PathBuf {
    let this = env::current_exe().expect("a program knows where it is");
    this.with_file_name(name)
}
