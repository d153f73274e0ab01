//! The inputs that are kept, each whole and broken off anywhere.

use std::{fs, path::Path};

pub(crate) fn replay(target: &str, holds: fn(&[u8])) {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fuzz_seeds/seeds")
        .join(target);
    let files = fs::read_dir(&seeds).unwrap_or_else(|error| panic!("{}: {error}", seeds.display()));
    let mut count = 0;
    for file in files {
        let file = file.unwrap().path();
        println!("{}", file.display());
        let input = fs::read(&file).unwrap();
        (0..=input.len()).for_each(|end| holds(&input[..end]));
        count += 1;
    }
    assert!(count > 0, "there is nothing in {}", seeds.display());
}
