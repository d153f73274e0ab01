//! A key that was just refused, and that Redis would not be asked about for a second: by other rules it is at once.

use tollgate::{ManualClock, RedisStore};

use support::{
    each_store::NOW,
    patience::stand_still,
    redis::{RedisServer, calls},
};

use crate::rules_reload::api::{Api, limit};

const SPENT: &str = "name = 'api'; algorithm = 'token_bucket'; limit = 2; window = '1d'";

/// A server on Redis's clock, whose limit is spent and known to be.
async fn spent(redis: &RedisServer, prefix: &str) -> Api<RedisStore> {
    let store = redis.store().prefix(prefix).build().unwrap();
    let api = Api::on(store, ManualClock::at(NOW), &limit(SPENT)).await;
    for status in [200, 200, 429] {
        assert_eq!(api.get(0).await.status, status, "{prefix}");
    }
    is_not_asked(redis, &api).await;
    api
}

async fn is_not_asked(redis: &RedisServer, api: &Api<RedisStore>) {
    let stats = &mut redis.client();
    let before = calls(stats, "evalsha");
    assert_eq!(api.get(0).await.status, 429);
    assert_eq!(calls(stats, "evalsha"), before);
}

#[tokio::test]
async fn whom_the_new_rules_admit_passes_at_once() {
    // A denial is repeated for a second, and no time goes by here.
    let _still = stand_still();
    let redis = RedisServer::start();
    let changes = [
        ("raised", SPENT.replace("limit = 2", "limit = 3")),
        ("larger", format!("{SPENT}; capacity = 3")),
        ("longer", SPENT.replace("1d", "2d")),
        ("renamed", SPENT.replace("api", "other")),
        ("counted-otherwise", SPENT.replace("token_bucket", "sliding_log")),
        ("counted-by-method", SPENT.replace("name", "methods = ['POST']; name")),
        ("watched-only", format!("{SPENT}; shadow = true")),
        ("exempt", format!("{SPENT}; [[exempt]]; path = '/{{request}}'")),
    ];
    for (change, rules) in changes {
        let api = spent(&redis, change).await;
        api.replace(&limit(&rules));
        assert_eq!(api.get(0).await.status, 200, "{change}");
        // And back.
        api.replace(&limit(SPENT));
        assert_eq!(api.get(0).await.status, 429, "{change}");
    }
}

#[tokio::test]
async fn whom_the_new_rules_refuse_is_told_what_they_say() {
    let _still = stand_still();
    let redis = RedisServer::start();
    let changes = [
        (
            "lowered",
            limit(&SPENT.replace("limit = 2", "limit = 1")),
            r#""api";q=1;w=86400"#,
        ),
        (
            "beside-another",
            limit("name = 'all'; algorithm = 'sliding_log'; limit = 9; window = '1h'") + &limit(SPENT),
            r#""all";q=9;w=3600, "api";q=2;w=86400"#,
        ),
    ];
    for (change, rules, told) in changes {
        let api = spent(&redis, change).await;
        api.replace(&rules);
        let reply = api.get(0).await;
        assert_eq!((reply.status, reply.header("ratelimit-policy").as_str()), (429, told));
        is_not_asked(&redis, &api).await;
    }
}
