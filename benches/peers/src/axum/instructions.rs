//! The number of instructions that a layer adds to a request, which does not depend on the load of the machine.

use crate::{instructions::per_iteration, runner::Pair, subprocess::sibling_program};

/// What a layer and tower_governor's add to a plain router.
pub fn against_tower_governor(layer: &str) -> Pair {
    let count = |service: &str| per_iteration(&sibling_program("serve"), &[service]);
    let plain = count("plain");
    Pair {
        ours: count(layer) - plain,
        other: count("tower_governor") - plain,
    }
}
