//! The properties on the inputs that are kept, as `tests/fuzz_seeds/` has it for those that can be asked from outside.

#[path = "../../tests/fuzz_seeds/replay.rs"]
mod replay;

use self::replay::replay;

#[test]
fn no_two_identities_meet() {
    replay("keys", super::keys);
}

#[test]
fn replies_say_what_is_in_them() {
    replay("reply", super::reply);
}
