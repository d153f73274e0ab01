//! The Lua script, assembled at compile time, and its execution.

use std::sync::LazyLock;

use deadpool_redis::redis::{
    self, Cmd, ErrorKind, RedisError, Script, ServerErrorKind, Value, aio::MultiplexedConnection, cmd,
    make_extension_error,
};
use tokio::time::Instant;

/// The parts of the script, each after those that it depends on.
pub(crate) const SOURCE: &str = concat!(
    include_str!("../../../../lua/prelude.lua"),
    include_str!("../../../../lua/fast_path.lua"),
    include_str!("../../../../lua/rules.lua"),
    include_str!("../../../../lua/bucket.lua"),
    include_str!("../../../../lua/fixed_window.lua"),
    include_str!("../../../../lua/sliding_log.lua"),
    include_str!("../../../../lua/sliding_counter.lua"),
    include_str!("../../../../lua/concurrency.lua"),
    include_str!("../../../../lua/operations.lua"),
    include_str!("../../../../lua/driver.lua"),
);

static SCRIPT: LazyLock<Script> = LazyLock::new(|| Script::new(SOURCE));

/// The command that loads the script into the script cache of Redis.
pub(crate) fn load() -> Cmd {
    let mut load = cmd("SCRIPT");
    load.arg("LOAD").arg(SOURCE);
    load
}

/// The hash that EVALSHA takes.
pub(crate) fn sha() -> &'static str {
    SCRIPT.get_hash()
}

/// The maximal number of loads per call: another client may flush the script cache between load and call.
const MAX_LOADS: usize = 5;

/// Runs the script. If it is not in the script cache, Redis replies NOSCRIPT before it runs anything, and the script is loaded.
/// After an ASK redirect, `asking` sends ASKING before the call. Returns the reply, and when the command that it belongs to was sent.
pub(crate) async fn run(
    command: &Cmd,
    connection: &mut MultiplexedConnection,
    asking: bool,
) -> Result<(Value, Instant), RedisError> {
    let mut sent = Instant::now();
    let mut reply = eval(command, connection, asking, false).await;
    for _ in 0..MAX_LOADS {
        if !matches!(&reply, Err(error) if is_noscript(error)) {
            break;
        }
        sent = Instant::now();
        reply = eval(command, connection, asking, true).await;
    }
    Ok((reply.map_err(unwrapped)?, sent))
}

/// The error of a command that the script called, if the call failed because of it.
fn unwrapped(error: RedisError) -> RedisError {
    let message = error.detail().filter(|_| error.code() == Some("ERR"));
    message.and_then(command_error).map(server_error).unwrap_or(error)
}

/// The message of a command that the script called. Before Redis 7 it is at the end of another one, after its position in the script:
/// `Error running script (..): @user_script:1: @user_script: 9: -READONLY You can't write ..`.
pub(super) fn command_error(message: &str) -> Option<&str> {
    let (position, error) = message.rsplit_once(": -")?;
    position.contains("user_script").then_some(error)
}

/// An error with the message of Redis, which begins with its code.
pub(super) fn server_error(message: &str) -> RedisError {
    let (code, detail) = message.split_once(' ').unwrap_or((message, ""));
    make_extension_error(code.to_owned(), Some(detail.to_owned()))
}

fn is_noscript(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
}

async fn eval(
    command: &Cmd,
    connection: &mut MultiplexedConnection,
    asking: bool,
    loading: bool,
) -> Result<Value, RedisError> {
    if !asking && !loading {
        return command.query_async(connection).await;
    }
    // One pipeline: the script cache may be flushed in between, and ASKING applies to the next command on a shared connection.
    let mut all = redis::pipe();
    if loading {
        all.add_command(load());
    }
    if asking {
        all.cmd("ASKING");
    }
    all.add_command(command.clone());
    let mut replies = connection.send_packed_commands(&all, 0, all.len()).await?;
    let reply = replies.pop().unwrap_or(Value::Nil).extract_error();
    if matches!(&reply, Err(error) if is_noscript(error)) {
        // The error of the load is the cause.
        for reply in replies {
            reply.extract_error()?;
        }
    }
    reply
}
