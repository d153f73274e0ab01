//! The Lua program, assembled at compile time.

use std::sync::LazyLock;

use deadpool_redis::redis::{Cmd, Script, cmd};

/// Its parts, in the order in which they build on each other.
const SOURCE: &str = concat!(
    include_str!("../../../lua/prelude.lua"),
    include_str!("../../../lua/bucket.lua"),
    include_str!("../../../lua/fixed_window.lua"),
    include_str!("../../../lua/sliding_log.lua"),
    include_str!("../../../lua/sliding_counter.lua"),
    include_str!("../../../lua/operations.lua"),
    include_str!("../../../lua/driver.lua"),
);

static SCRIPT: LazyLock<Script> = LazyLock::new(|| Script::new(SOURCE));

/// The command that makes Redis remember it.
pub(super) fn load() -> Cmd {
    let mut load = cmd("SCRIPT");
    load.arg("LOAD").arg(SOURCE);
    load
}

/// The name Redis knows it by once it is loaded.
pub(super) fn sha() -> &'static str {
    SCRIPT.get_hash()
}
