//! The arguments of `tollgate peek` and `tollgate reset`.

use std::path::PathBuf;

use clap::Args;

use crate::common::store::RedisArgs;

const AFTER_HELP: &str = "\
KEY is one of
  NAME=VALUE          what a request has, by the name that `key` of the limit has for it, whole or in part:
                      ip=192.0.2.1, header:x-user-id=alice, x-user-id=alice, apikey=SECRET (its digest is what is sent to Redis)
  4e95b893bbbb7c28    the digest of a key, as logs and traces have it: Redis is searched for the key
  x-user-id:alice     a key as Redis has it, alone or after the prefix and the limit

Where a limit counts by several values together, give --key for each of them. Where it counts everybody together, give none.
Gateways and services that have just denied a request of a key deny others without asking Redis, for a second at most.";

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
    /// Whom the limit counts, like ip=192.0.2.1
    #[arg(long = "key", value_name = "KEY")]
    pub(crate) keys: Vec<String>,
    /// The plan whose quota applies, as the rules name it
    #[arg(long, value_name = "NAME")]
    pub(crate) plan: Option<String>,
    /// Print JSON, for scripts
    #[arg(long)]
    pub(crate) json: bool,
}
