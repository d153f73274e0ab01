//! The arguments of `tollgate peek` and `tollgate reset`.

use std::path::PathBuf;

use clap::Args;

use crate::common::store::RedisArgs;

const AFTER_HELP: &str = "\
KEY is one of
  NAME=VALUE        a value of the request: NAME is what the limit's `key` says,
                    header:x-user-id=alice, or a half of it, x-user-id=alice.
                    Of apikey=SECRET, only the digest is sent to Redis
  4e95b893bbbb7c28  the digest of a key, from a log: Redis is searched for it
  x-user-id:alice   a key as Redis has it, with or without prefix and limit

Where a limit counts by several values together, give --key for each of them;
where it counts all requests together, give none. A process that has just denied
a request of a key denies others for up to a second, without asking Redis.";

#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct KeyArgs {
    /// The rules file that has the limit
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: PathBuf,
    #[command(flatten)]
    pub(crate) store: RedisArgs,
    /// The limit's name in the rules file
    #[arg(long, value_name = "NAME")]
    pub(crate) limit: String,
    /// The key, like ip=192.0.2.1
    #[arg(long = "key", value_name = "KEY")]
    pub(crate) keys: Vec<String>,
    /// The plan whose quota applies, as the rules name it
    #[arg(long, value_name = "NAME")]
    pub(crate) plan: Option<String>,
    /// Print JSON, for scripts
    #[arg(long)]
    pub(crate) json: bool,
}
