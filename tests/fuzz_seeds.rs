//! What the fuzz targets hold against inputs that nobody thought of, on the inputs that are kept in `fuzz/seeds/`: each whole, and
//! broken off anywhere.

use std::fs;

use support::project::root;

#[path = "../fuzz/src/lib.rs"]
#[allow(unreachable_pub, reason = "it is a crate of its own for the targets")]
mod properties;

fn replay(target: &str, holds: fn(&[u8])) {
    let seeds = root().join("fuzz/seeds").join(target);
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

#[test]
fn the_client_is_nobody_whom_the_proxies_did_not_see() {
    replay("client_ip", properties::client_ip);
}

#[test]
fn rules_are_taken_as_they_are_or_refused_for_what_is_in_them() {
    replay("rules", properties::rules);
}

#[test]
fn the_laws_are_kept() {
    replay("laws", properties::laws);
}

#[cfg(feature = "redis")]
#[test]
fn no_two_identities_meet() {
    replay("keys", properties::keys);
}

#[cfg(feature = "redis")]
#[test]
fn replies_say_what_is_in_them() {
    replay("reply", properties::reply);
}
