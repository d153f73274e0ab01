//! The other programs that scripts/bench builds, beside this one.

use std::{env, path::PathBuf};

pub fn sibling(name: &str) -> PathBuf {
    let this = env::current_exe().expect("a program knows where it is");
    this.with_file_name(name)
}
