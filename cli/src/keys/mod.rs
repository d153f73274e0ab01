//! `tollgate peek` and `tollgate reset`: show or reset one key in Redis.

mod args;
mod find;
mod report;

use tollgate::{Charge, Decision, Key, Limit, Operation, RedisStore, Store};
use tracing::level_filters::LevelFilter;

pub(crate) use self::args::KeyArgs;
use self::{find::find_key, report::Report};
use crate::{
    args::OutputArgs,
    common::{key_state::find_limit, output::Failure, redis::OPERATOR_TIMEOUT, rules, runtime},
};

pub(crate) fn peek(args: &KeyArgs, output: OutputArgs) -> Result<(), Failure> {
    output.start_log(LevelFilter::OFF);
    runtime::current_thread()?.block_on(async {
        let found = LimitKey::find(args, output).await?;
        let state = found.peek().await?;
        found.report().peeked(&state, args.json)
    })
}

pub(crate) fn reset(args: &KeyArgs, output: OutputArgs) -> Result<(), Failure> {
    output.start_log(LevelFilter::OFF);
    runtime::current_thread()?.block_on(async {
        let found = LimitKey::find(args, output).await?;
        let before = found.peek().await?;
        let after = found.apply(Operation::Reset(found.charge().into())).await?;
        found.report().reset(&before, &after, args.json)
    })
}

/// A limit of a rules file, and one of its keys in Redis.
struct LimitKey {
    store: RedisStore,
    limit: Limit,
    key: Key,
}

impl LimitKey {
    async fn find(args: &KeyArgs, output: OutputArgs) -> Result<Self, Failure> {
        let redis = args.store.config()?;
        let rules = rules::read(&args.rules)?;
        let limit = find_limit(&rules, &args.limit, args.plan.as_deref())?;
        let store = redis.builder().pool_size(1).deadline(OPERATOR_TIMEOUT).build()?;
        let key = find_key(&args.keys, &limit, &rules, &redis, &store, output.quiet).await?;
        Ok(Self { store, limit, key })
    }

    fn charge(&self) -> Charge {
        Charge::new(self.limit.clone(), self.key.clone())
    }

    /// Reads the state by a charge of 0, which changes nothing.
    async fn peek(&self) -> Result<Decision, Failure> {
        self.apply(Operation::Peek(self.charge().with_cost(0).into())).await
    }

    async fn apply(&self, operation: Operation) -> Result<Decision, Failure> {
        tracing::debug!(target: "tollgate::cli", limit = self.limit.name(), key = self.key.as_str(), "calling Redis");
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
