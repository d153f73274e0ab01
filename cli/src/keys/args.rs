//! The arguments of `tollgate peek` and `tollgate reset`.

use std::path::PathBuf;

use clap::Args;

use crate::common::store::RedisArgs;

const AFTER_HELP: &str = "\
KEY is one of
  NAME=VALUE        a value of the request. NAME is the limit's `key`, as in
                    header:x-user-id=alice, or one half of it, x-user-id=alice.
                    For apikey=SECRET, only the digest is sent to Redis
  4e95b893bbbb7c28  the digest of a key from a log. It is searched by SCAN
  x-user-id:alice   a key as stored in Redis, with or without prefix and limit

If the limit combines several values, repeat --key for each; if it counts all
requests together, omit it. A process that has just denied a key may deny it
from its cache for up to a second after a reset. A process that holds slots of
a concurrency limit renews them: a reset forgets only what stopped ones held.";

#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct KeyArgs {
    /// The rules file that defines the limit
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
    /// The plan whose quota applies, as named in the rules file
    #[arg(long, value_name = "NAME")]
    pub(crate) plan: Option<String>,
    /// Print JSON, for scripts
    #[arg(long)]
    pub(crate) json: bool,
}
