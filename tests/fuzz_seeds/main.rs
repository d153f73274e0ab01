//! What the fuzz targets hold against inputs that nobody thought of, on the inputs that are kept in `seeds/`: each whole, and
//! broken off anywhere. `src/fuzzing/` does so where it takes the inside.

#[allow(unreachable_pub, reason = "it is a crate of its own for the targets")]
mod properties;
mod replay;

use replay::replay;

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
