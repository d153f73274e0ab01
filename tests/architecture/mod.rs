//! The architecture as docs/architecture.md has it, held against the code's own imports.

mod crate_tree;
mod imports;
mod page;
mod room;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use crate_tree::CrateTree;
use page::rooms;
use room::Room;

/// The room that a file is in: the one that says most of its path.
fn room_of<'a>(rooms: &'a [Room], file: &str) -> Option<&'a Room> {
    let holds = |room: &&Room| room::holds(&room.path, file);
    rooms.iter().filter(holds).max_by_key(|room| room.path.len())
}

/// The one circle that is meant: a rule is one of five algorithms, and each of them says which rule it is.
const CLOSED_SET: &str = "algorithm/";

/// What only hands on the names of others is in no room: everybody goes through it.
fn is_front_door(file: &str) -> bool {
    file == "lib.rs"
}

#[test]
fn every_file_is_in_a_room_and_every_room_has_files() {
    let (rooms, tree) = (rooms(), CrateTree::read());
    let mut files_in: BTreeMap<&str, usize> = rooms.iter().map(|room| (room.path.as_str(), 0)).collect();
    for file in tree.files().filter(|file| !is_front_door(file)) {
        let room = room_of(&rooms, file).unwrap_or_else(|| panic!("docs/architecture.md has no room for src/{file}"));
        *files_in.entry(&room.path).or_default() += 1;
    }
    let empty: Vec<_> = files_in.iter().filter(|(_, files)| **files == 0).collect();
    assert!(
        empty.is_empty(),
        "docs/architecture.md has rooms without files: {empty:?}"
    );
}

#[test]
fn imports_go_down_only() {
    let (rooms, tree) = (rooms(), CrateTree::read());
    let mut up = Vec::new();
    for file in tree.files().filter(|file| !is_front_door(file)) {
        let above = room_of(&rooms, file).expect("every file is in a room");
        for imported in tree.imports_of(file) {
            let below =
                room_of(&rooms, &imported).unwrap_or_else(|| panic!("src/{file} goes by way of src/{imported}"));
            if above.path != below.path && above.floor <= below.floor {
                up.push(format!(
                    "src/{file} (floor {}) imports src/{imported} (floor {})",
                    above.floor, below.floor
                ));
            }
        }
    }
    assert!(up.is_empty(), "{}", up.join("\n"));
}

#[test]
fn what_is_never_imported_is_not() {
    let tree = CrateTree::read();
    for (room, never) in page::never() {
        for file in tree.files().filter(|file| room::holds(&room, file)) {
            for imported in tree.imports_of(file) {
                let forbidden = never.iter().find(|never| room::holds(never, &imported));
                assert_eq!(forbidden, None, "src/{file} imports src/{imported}");
            }
        }
    }
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let tree = CrateTree::read();
    let imports = |file: &str| (file.to_owned(), tree.imports_of(file));
    let mut circle: BTreeMap<String, BTreeSet<String>> = tree.files().map(imports).collect();
    // Whoever imports nobody that is left is in no circle, and neither is whoever nobody imports.
    loop {
        let left: BTreeSet<String> = circle.keys().cloned().collect();
        let imported: BTreeSet<String> = circle.values().flatten().cloned().collect();
        circle.retain(|file, imports| !imports.is_disjoint(&left) && imported.contains(file));
        circle
            .values_mut()
            .for_each(|imports| imports.retain(|file| left.contains(file)));
        if circle.len() == left.len() {
            break;
        }
    }
    circle.retain(|file, _| !file.starts_with(CLOSED_SET));
    assert!(circle.is_empty(), "in a circle, or between two: {circle:#?}");
}

#[test]
fn a_room_uses_the_crates_that_it_names_and_no_others() {
    let (rooms, tree) = (rooms(), CrateTree::read());
    let mut used: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for file in tree.files().filter(|file| !is_front_door(file)) {
        let room = room_of(&rooms, file).expect("every file is in a room");
        used.entry(&room.path).or_default().extend(tree.crates_of(file));
    }
    for room in &rooms {
        let mut used = used.remove(room.path.as_str()).unwrap_or_default();
        used.sort();
        used.dedup();
        assert_eq!(used, room.crates, "the crates of {}", room.path);
    }
}

#[test]
fn a_mod_rs_tells_the_story_and_does_no_work() {
    let tree = CrateTree::read();
    for file in tree.files().filter(|file| file.ends_with("mod.rs")) {
        let defined = tree.defines(file);
        assert!(
            defined.is_empty(),
            "src/{file} defines {defined:?}: give it a file of its own"
        );
    }
}

#[test]
fn every_file_says_what_it_is_for_in_three_hundred_lines_at_most() {
    for file in CrateTree::read().files() {
        let text = fs::read_to_string(crate_tree::source().join(file)).expect("the file was listed");
        assert!(text.starts_with("//"), "src/{file} does not say what it is for");
        assert!(
            text.lines().count() <= 300,
            "src/{file} has two jobs, or too many words"
        );
    }
}
