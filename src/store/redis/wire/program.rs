//! The Lua program, assembled at compile time, and how it is run.

use std::sync::LazyLock;

use deadpool_redis::redis::{
    self, Cmd, ErrorKind, RedisError, Script, ServerErrorKind, Value, aio::MultiplexedConnection, cmd,
};

/// Its parts, in the order in which they build on each other.
const SOURCE: &str = concat!(
    include_str!("../../../../lua/prelude.lua"),
    include_str!("../../../../lua/bucket.lua"),
    include_str!("../../../../lua/fixed_window.lua"),
    include_str!("../../../../lua/sliding_log.lua"),
    include_str!("../../../../lua/sliding_counter.lua"),
    include_str!("../../../../lua/operations.lua"),
    include_str!("../../../../lua/driver.lua"),
);

static SCRIPT: LazyLock<Script> = LazyLock::new(|| Script::new(SOURCE));

/// The command that makes Redis remember it.
pub(crate) fn load() -> Cmd {
    let mut load = cmd("SCRIPT");
    load.arg("LOAD").arg(SOURCE);
    load
}

/// The name Redis knows it by once it is loaded.
pub(crate) fn sha() -> &'static str {
    SCRIPT.get_hash()
}

/// Runs it; loads it first where Redis has never seen it or has forgotten it, which Redis says before it does anything.
/// Whoever was told to ask for keys that are on their way says so.
pub(crate) async fn run(
    command: &Cmd,
    connection: &mut MultiplexedConnection,
    asking: bool,
) -> Result<Value, RedisError> {
    match once(command, connection, asking).await {
        Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
            load().query_async::<()>(connection).await?;
            once(command, connection, asking).await
        }
        answer => answer,
    }
}

async fn once(command: &Cmd, connection: &mut MultiplexedConnection, asking: bool) -> Result<Value, RedisError> {
    if !asking {
        return command.query_async(connection).await;
    }
    // It is about the next command only, so that nobody else's may come in between.
    let mut both = redis::pipe();
    both.cmd("ASKING").add_command(command.clone());
    let mut answers = connection.send_packed_commands(&both, 1, 1).await?;
    answers.pop().unwrap_or(Value::Nil).extract_error()
}
