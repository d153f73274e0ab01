//! The Lua program, assembled at compile time, and how it is run.

use std::sync::LazyLock;

use deadpool_redis::redis::{
    Cmd, ErrorKind, RedisError, Script, ServerErrorKind, Value, aio::MultiplexedConnection, cmd,
};

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

/// Runs it; loads it first where Redis has never seen it or has forgotten it, which Redis says before it does anything.
pub(super) async fn run(command: &Cmd, connection: &mut MultiplexedConnection) -> Result<Value, RedisError> {
    match command.query_async(connection).await {
        Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
            load().query_async::<()>(connection).await?;
            command.query_async(connection).await
        }
        answer => answer,
    }
}
