//! `tollgate peek` and `tollgate reset`: how one key stands in Redis, and its quota back.

mod args;
mod find;
mod report;

use tollgate::{Charge, Decision, Key, Limit, Operation, RedisStore, Store};
use tracing::level_filters::LevelFilter;

pub(crate) use self::args::KeyArgs;
use self::{find::find_key, report::Report};
use crate::{
    args::OutputArgs,
    common::{failure::Failure, key_state::find_limit, redis, rules, runtime},
};

pub(crate) fn peek(args: &KeyArgs, output: OutputArgs) -> Result<(), Failure> {
    output.start_log(LevelFilter::OFF);
    runtime::of_this_thread()?.block_on(async {
        let found = Found::find(args, output).await?;
        let state = found.peek().await?;
        found.report().peeked(&state, args.json)
    })
}

pub(crate) fn reset(args: &KeyArgs, output: OutputArgs) -> Result<(), Failure> {
    output.start_log(LevelFilter::OFF);
    runtime::of_this_thread()?.block_on(async {
        let found = Found::find(args, output).await?;
        let before = found.peek().await?;
        let after = found.apply(Operation::Reset(found.charge().into())).await?;
        found.report().reset(&before, &after, args.json)
    })
}

/// A limit of the rules, and one of its keys in Redis.
struct Found {
    store: RedisStore,
    limit: Limit,
    key: Key,
}

impl Found {
    async fn find(args: &KeyArgs, output: OutputArgs) -> Result<Self, Failure> {
        let server = args.store.redis()?;
        let rules = rules::read(&args.rules)?;
        let limit = find_limit(&rules, &args.limit, args.plan.as_deref())?;
        let store = server.builder().pool_size(1).deadline(redis::TIMEOUT).build()?;
        let key = find_key(&args.keys, &limit, &rules, &server, &store, output.quiet).await?;
        Ok(Self { store, limit, key })
    }

    fn charge(&self) -> Charge {
        Charge::new(self.limit.clone(), self.key.clone())
    }

    /// It costs nothing, and changes nothing.
    async fn peek(&self) -> Result<Decision, Failure> {
        self.apply(Operation::Acquire(self.charge().cost(0).into())).await
    }

    async fn apply(&self, operation: Operation) -> Result<Decision, Failure> {
        tracing::debug!(limit = self.limit.name(), key = self.key.as_str(), "asking Redis");
        Ok(self.store.apply(operation).await?)
    }

    fn report(&self) -> Report<'_> {
        Report {
            limit: &self.limit,
            key: &self.key,
            redis_key: self.store.redis_key(&self.limit, &self.key),
        }
    }
}
