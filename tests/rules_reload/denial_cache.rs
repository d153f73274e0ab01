//! A cached denial, for which Redis is not called for a second: after a change of the rules it is not used.

use tollgate::{ManualClock, RedisStore};

use support::{
    each_store::NOW,
    redis::{RedisServer, calls},
    wait::stop_clock,
};

use crate::rules_reload::api::{Api, limit};

const EXHAUSTED: &str = "name = 'api'; algorithm = 'token_bucket'; limit = 2; window = '1d'";

/// A server on the clock of Redis, whose limit is exhausted and whose denial is cached.
async fn exhausted(redis: &RedisServer, prefix: &str) -> Api<RedisStore> {
    let store = redis.store().prefix(prefix).build().unwrap();
    let api = Api::on(store, ManualClock::at(NOW), &limit(EXHAUSTED)).await;
    for status in [200, 200, 429] {
        assert_eq!(api.get(0).await.status, status, "{prefix}");
    }
    redis_is_not_called(redis, &api).await;
    api
}

async fn redis_is_not_called(redis: &RedisServer, api: &Api<RedisStore>) {
    let stats = &mut redis.client();
    let before = calls(stats, "evalsha");
    assert_eq!(api.get(0).await.status, 429);
    assert_eq!(calls(stats, "evalsha"), before);
}

#[tokio::test]
async fn a_request_that_the_new_rules_admit_passes_at_once() {
    // A denial is cached for a second, and the clock is paused here.
    let _still = stop_clock();
    let redis = RedisServer::start();
    let changes = [
        ("raised", EXHAUSTED.replace("limit = 2", "limit = 3")),
        ("larger", format!("{EXHAUSTED}; capacity = 3")),
        ("longer", EXHAUSTED.replace("1d", "2d")),
        ("renamed", EXHAUSTED.replace("api", "other")),
        ("counted-otherwise", EXHAUSTED.replace("token_bucket", "sliding_log")),
        (
            "counted-by-method",
            EXHAUSTED.replace("name", "methods = ['POST']; name"),
        ),
        ("watched-only", format!("{EXHAUSTED}; shadow = true")),
        ("exempt", format!("{EXHAUSTED}; [[exempt]]; path = '/{{request}}'")),
    ];
    for (change, rules) in changes {
        let api = exhausted(&redis, change).await;
        api.replace(&limit(&rules));
        assert_eq!(api.get(0).await.status, 200, "{change}");
        api.replace(&limit(EXHAUSTED));
        assert_eq!(api.get(0).await.status, 429, "{change}");
    }
}

#[tokio::test]
async fn a_request_that_the_new_rules_deny_gets_their_headers() {
    let _still = stop_clock();
    let redis = RedisServer::start();
    let changes = [
        (
            "lowered",
            limit(&EXHAUSTED.replace("limit = 2", "limit = 1")),
            r#""api";q=1;w=86400"#,
        ),
        (
            "beside-another",
            limit("name = 'all'; algorithm = 'sliding_log'; limit = 9; window = '1h'") + &limit(EXHAUSTED),
            r#""all";q=9;w=3600, "api";q=2;w=86400"#,
        ),
    ];
    for (change, rules, policy) in changes {
        let api = exhausted(&redis, change).await;
        api.replace(&rules);
        let reply = api.get(0).await;
        assert_eq!((reply.status, reply.header("ratelimit-policy").as_str()), (429, policy));
        redis_is_not_called(&redis, &api).await;
    }
}
