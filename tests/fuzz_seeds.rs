//! Replays `fuzz/seeds/` through the properties of the fuzz targets, each seed complete and truncated at every byte.

use std::fs;

use support::project::root;

#[path = "../fuzz/src/lib.rs"]
#[allow(unreachable_pub, reason = "the fuzz targets use this file as a crate")]
mod properties;

pub(crate) use properties::assert_within_bound;

fn replay(target: &str, property: fn(&[u8])) {
    let seeds = root().join("fuzz/seeds").join(target);
    let files = fs::read_dir(&seeds).unwrap_or_else(|error| panic!("{}: {error}", seeds.display()));
    let mut count = 0;
    for file in files {
        let file = file.unwrap().path();
        println!("{}", file.display());
        let input = fs::read(&file).unwrap();
        (0..=input.len()).for_each(|end| property(&input[..end]));
        count += 1;
    }
    assert!(count > 0, "{} is empty", seeds.display());
}

#[test]
fn a_client_cannot_choose_its_address() {
    replay("client_ip", properties::client_ip);
}

#[test]
fn rules_are_accepted_unchanged_or_rejected_with_a_diagnostic() {
    replay("rules", properties::rules);
}

#[test]
fn the_algorithms_keep_the_laws() {
    replay("laws", properties::laws);
}

#[cfg(feature = "redis")]
#[test]
fn no_two_identities_share_a_key() {
    replay("keys", properties::keys);
}

#[cfg(feature = "redis")]
#[test]
fn replies_are_decoded_like_the_reference_decoder() {
    replay("reply", properties::reply);
}
