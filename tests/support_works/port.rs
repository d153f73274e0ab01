//! Ports are nobody else's.

use std::collections::BTreeSet;

use support::port::Port;

/// Many more than it takes for the system to give one out again.
const MANY: usize = 2_000;

#[test]
fn a_port_that_was_given_back_is_not_taken_again() {
    let taken: BTreeSet<u16> = (0..MANY).map(|_| Port::free().number()).collect();
    assert_eq!(taken.len(), MANY);
}
