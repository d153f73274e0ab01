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

/// How often to load it for one call: somebody may make Redis forget it again just then.
const LOADS: usize = 5;

/// Runs it; brings it along where Redis has never seen it or has forgotten it, which Redis says before it does anything.
/// Whoever was told to ask for keys that are on their way says so.
pub(crate) async fn run(
    command: &Cmd,
    connection: &mut MultiplexedConnection,
    asking: bool,
) -> Result<Value, RedisError> {
    let mut answer = once(command, connection, asking, false).await;
    for _ in 0..LOADS {
        if !matches!(&answer, Err(error) if is_unknown(error)) {
            break;
        }
        answer = once(command, connection, asking, true).await;
    }
    answer
}

fn is_unknown(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
}

async fn once(
    command: &Cmd,
    connection: &mut MultiplexedConnection,
    asking: bool,
    loading: bool,
) -> Result<Value, RedisError> {
    if !asking && !loading {
        return command.query_async(connection).await;
    }
    // In one go: what was loaded may be forgotten, and ASKING is about the next command only, whosever that is.
    let mut all = redis::pipe();
    if loading {
        all.add_command(load());
    }
    if asking {
        all.cmd("ASKING");
    }
    all.add_command(command.clone());
    let mut answers = connection.send_packed_commands(&all, 0, all.len()).await?;
    let answer = answers.pop().unwrap_or(Value::Nil).extract_error();
    if matches!(&answer, Err(error) if is_unknown(error)) {
        // Why it could not be loaded says more.
        for answer in answers {
            answer.extract_error()?;
        }
    }
    answer
}
